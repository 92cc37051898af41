"""The Space: a page, and endpoints for programs.

`limits` holds every limit. `inputs` checks what was asked for, `uploads` reads what was uploaded, and `upload_scoring`
scores it, large files in `subprocesses`. `views` makes what a visitor sees; `endpoints` are what a program may ask for,
and `calls` is the way to them; `messages` says what went wrong. None of these needs gradio. `middleware` stands before
the server, `mcp_tools` are the endpoints for agents, and `server` is the layout and launch.
"""
