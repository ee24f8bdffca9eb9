/** Text that is safe between tags, written as Steam writes it: quotes stay. */
export function escapeText(value: string): string {
  return value.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

/** Text that is safe between tags and in quoted attributes. */
export function escapeHtml(value: string): string {
  return value.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
