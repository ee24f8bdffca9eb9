/**
 * Rewrites a URL whose path cannot be decoded, such as a link that was cut inside a character: its percent signs then
 * stand for themselves. Fastify would answer it before any hook runs, without our limits, checks and headers.
 */
export function readablePath({ url = '/' }: { url?: string | undefined }): string {
  if (!url.includes('%')) return url
  const [path = '', ...query] = url.split('?')
  return canDecode(path) ? url : [path.replaceAll('%', '%25'), ...query].join('?')
}

/** The path of a URL, without its query. */
export const pathOf = (url: string): string => url.split('?')[0] ?? ''

/** Whether the bytes behind the percent signs in a part of a URL are UTF-8. */
export function canDecode(part: string): boolean {
  try {
    decodeURIComponent(part)
    return true
  } catch {
    return false
  }
}
