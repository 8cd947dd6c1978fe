"""The pages a data team looks at: facts from lake, runs and Hub, as a live server or one file."""
