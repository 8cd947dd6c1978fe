"""Arabic prosody: what the letters of a couplet say of its metre."""

from mihakk.machinery.prosody.scansion import SURE, Scansion, scan, sure_metres

__all__ = ["SURE", "Scansion", "scan", "sure_metres"]
