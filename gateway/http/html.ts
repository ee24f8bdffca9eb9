const ENTITIES: Record<string, string> = { '&': '&amp;', '"': '&quot;', '<': '&lt;', '>': '&gt;' }

/** Escapes a value for the text of an element, or for an attribute in double quotes. */
export function escapeHtml(value: string): string {
  return value.replace(/[&"<>]/g, (character) => ENTITIES[character] ?? '')
}
