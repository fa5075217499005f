"""A progress photo: one file, without what the camera wrote into it, kept beside the profile.

The chat keeps an upload for as long as the conversation is there; the coach keeps its own copy, as long as the profile.
"""

from __future__ import annotations

from yourcall import Context, File, Upload, tool

from .tools import Coach

PHOTO = Upload(
    ["image/*"],
    title="Your progress photo",
    help="Where and with what it was taken is removed from it. Only you and your coach have it.",
    max_bytes=5 << 20,
    strip=True,
)


@tool
async def save_progress_photo(ctx: Context[Coach]) -> str:
    """Ask the user for a photo of their progress, and keep it with today's date."""
    photo = ctx.ask(PHOTO)

    async def keep(photo: File) -> int:
        return await ctx.deps.profiles.keep_photo(ctx.user, photo.type, await ctx.read(photo))

    count = await ctx.once("keep", keep, photo)
    return f"The photo is kept, without its metadata. That makes {count} so far."
