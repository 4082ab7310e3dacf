"""Why a commit failed, or whether it would: an operation beside the commits that it did not see."""
