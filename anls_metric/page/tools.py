"""gradio's tools for agents, as agents expect them: answers are JSON, and a file that was uploaded may be named."""

from __future__ import annotations

import json
from typing import Any

from gradio import mcp
from gradio_client import handle_file

from anls_metric.page.guard import FILES
from anls_metric.page.uploads import folder, take


class Tools(mcp.GradioMCPServer):  # type: ignore[misc]
    """gradio's server, which writes answers as Python prints them, and takes no upload."""

    def postprocess_output_data(self, data: Any, root_url: str) -> list[Any]:
        """The answers of a tool, as JSON."""
        return [self.types.TextContent(type="text", text=json.dumps(output, ensure_ascii=False)) for output in data]

    def convert_strings_to_filedata(self, value: Any, filedata_positions: list[list[str | int]]) -> Any:
        """The arguments of a tool: an upload is named by its path, or by the address that uploading it gave."""
        files = {}
        for (name,) in filedata_positions:
            given = value.get(name)
            path = given.partition(FILES[0])[2] or given if isinstance(given, str) else ""
            try:
                files[name] = handle_file(take(path, folder(), str(name)).path)
            except (ValueError, OSError):  # an address elsewhere, or the content itself
                continue
        others = {name: given for name, given in value.items() if name not in files}
        return {**super().convert_strings_to_filedata(others, filedata_positions), **files}


def install(uploads: str) -> None:
    """Have gradio make these instead of its own, with what agents send in the same folder as all uploads."""
    mcp.GradioMCPServer = Tools
    mcp.DEFAULT_TEMP_DIR = uploads
