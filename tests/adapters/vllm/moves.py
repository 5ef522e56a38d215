"""Short names for the operations of scenarios, and what tests ask of events."""

STEP = {"op": "step"}


def add(request, prompt, tail=1, max_tokens=4):
    return {"op": "add", "request": request, "prompt": list(prompt), "tail": tail,
            "max_tokens": max_tokens}  # fmt: skip


def complete(nth=0):
    return {"op": "complete", "nth": nth}


def copy(nth=0):
    return {"op": "copy", "nth": nth}


def abort(request):
    return {"op": "abort", "request": request}


def named(result, event):
    return [e for e in result["events"] if e["event"] == event]


def stored_twice(result):
    """(block, allocation) of stores planned while an earlier one of the same is open."""
    open_jobs, twice = {}, []
    for event in result["events"]:
        if event["event"] == "plan_store":
            read = (event["block"], event["allocation"])
            if read in open_jobs.values():
                twice.append(read)
            open_jobs[event["job"]] = read
        elif event["event"] in {"acknowledge", "order_flush"}:
            open_jobs.pop(event["job"], None)
    return twice
