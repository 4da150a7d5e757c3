"""Summaries of measured times."""
import numpy as np


def summarize(times):
    """@param times milliseconds, at least one. Percentiles are interpolated linearly, and the standard deviation is that of a sample."""
    array = np.asarray(times, float)
    p50, p90, p99 = (float(np.percentile(array, share)) for share in (50, 90, 99))
    return {"repeats": len(array), "minMs": float(array.min()), "meanMs": float(array.mean()), "stdMs": float(array.std(ddof=1)) if len(array) > 1 else 0.0, "p50Ms": p50, "p90Ms": p90, "p99Ms": p99}
