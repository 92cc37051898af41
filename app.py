"""The Space: a page that scores answers and explains the scores. Run it with ``python app.py``."""

# Processes that score import this file again, and need nothing of it.
if __name__ == "__main__":
    from anls_metric.page.server import build, launch

    launch(build())
