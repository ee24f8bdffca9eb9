/** Escapes text for use between tags as Steam does, which leaves quotes as they are. */
export function escapeText(value: string): string {
  return value.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Escapes text for use between tags and in quoted attributes. */
export function escapeHtml(value: string): string {
  return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
