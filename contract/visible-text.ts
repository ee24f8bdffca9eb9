/** Classes of characters in texts that a page shows. */

/**
 * A text without control characters. The OpenAPI document has this pattern without flags: `\P{Cc}` needs one, and Python
 * cannot compile it.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these characters are refused
export const NO_CONTROLS = /^[^\x00-\x1f\x7f-\x9f]*$/

/** Characters that change the direction of the text around them. */
export const TEXT_DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

/** Any character but spaces, the empty Braille cell, and those that leave no mark, such as a zero-width space. */
export const VISIBLE = /[^\s\u2800\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u
