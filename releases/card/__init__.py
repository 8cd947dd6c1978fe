"""What a release says of itself: card, charts, datasheet, citation, Croissant."""
