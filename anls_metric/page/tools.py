"""gradio's tools for agents, as agents expect them: answers are JSON, and a file that was uploaded may be named."""

from __future__ import annotations

import json
from typing import Any

from gradio import mcp, processing_utils
from gradio_client import handle_file

from anls_metric.page.guard import FILES
from anls_metric.page.uploads import folder, take


class Tools(mcp.GradioMCPServer):  # type: ignore[misc]
    """gradio's server, which writes answers as Python prints them, and takes no upload."""

    def postprocess_output_data(self, data: Any, root_url: str) -> list[Any]:
        """The answers of a tool, as JSON."""
        return [self.types.TextContent(type="text", text=json.dumps(output, ensure_ascii=False)) for output in data]

    def get_input_schema(self, *arguments: Any, **named: Any) -> tuple[dict[str, Any], list[list[str | int]]]:
        """As gradio's, but for a list of files: there it names definitions that stand elsewhere than it says."""
        schema, positions = super().get_input_schema(*arguments, **named)
        for one in schema["properties"].values():
            if one.pop("$defs", None):
                one["items"].pop("$ref", None)
        return schema, positions

    def convert_strings_to_filedata(self, value: Any, filedata_positions: list[list[str | int]]) -> Any:
        """The arguments of a tool: an upload is named by its path, or by the address that uploading it gave."""
        names = {str(position[0]) for position in filedata_positions}
        files = {name: _files(value[name]) for name in names if name in value}
        others = {name: given for name, given in value.items() if not files.get(name)}
        return {**files, **super().convert_strings_to_filedata(others, filedata_positions)}


def _files(given: Any) -> Any:
    """What an agent names as a file, or as several, as gradio takes it; None for what is none of ours."""
    if isinstance(given, list):
        files = [_files(one) for one in given]
        return files if all(files) else None
    if not isinstance(given, str):
        return None
    if given.startswith("data:"):
        return handle_file(processing_utils.save_base64_to_cache(given, folder()))
    path = given.partition(FILES[0])[2] or given
    try:
        return handle_file(take(path, folder(), "the file").path)
    except (ValueError, OSError):  # an address elsewhere
        return None


def install(uploads: str) -> None:
    """Have gradio make these instead of its own, with what agents send in the same folder as all uploads."""
    mcp.GradioMCPServer = Tools
    mcp.DEFAULT_TEMP_DIR = uploads
