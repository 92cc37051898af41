"""The Space: a page, and endpoints for programs.

`limits` holds every limit. `inputs` checks what was asked for, `uploads` keeps and reads what was uploaded, and
`upload_scoring` scores it. `views` makes what a visitor sees, and `endpoints` are what a program may ask for. All of
these work in `subprocesses`, which `fork_server` makes fast. `calls` is the way to the endpoints, and `messages` says
what went wrong. None of these needs gradio. `middleware` stands before the server and counts the `bodies` of requests,
`mcp_tools` are the endpoints for agents, and `server` is the layout and launch.
"""
