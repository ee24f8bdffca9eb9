export type Incoming = {
  method: string
  /** The host without its port. */
  host: string
  /** True if the request is for the sandbox itself, not for one of Steam's hosts. */
  isOwn: boolean
  origin: string | undefined
  referer: string
  path: string
  query: URLSearchParams
  form: URLSearchParams
  json: unknown
  cookies: ReadonlyMap<string, string>
}

export type Reply = { status: number; headers: Record<string, string | string[]>; body: string | Buffer }

export function json(body: unknown, status = 200, headers: Record<string, string | string[]> = {}): Reply {
  const type = { 'content-type': 'application/json; charset=utf-8' }
  return { status, headers: { ...type, ...headers }, body: JSON.stringify(body) }
}

export function text(body: string, type = 'text/html', status = 200): Reply {
  return { status, headers: { 'content-type': `${type}; charset=utf-8` }, body }
}

export function redirect(location: string, status = 302): Reply {
  return { status, headers: { location }, body: '' }
}

/** Returns undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A field of an untrusted value; undefined if the value is not an object or lacks it. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
