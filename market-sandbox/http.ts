export type Incoming = {
  method: string
  /** The host without its port. */
  host: string
  /** True if the request is for the sandbox itself, not for a market's host. */
  isOwn: boolean
  origin: string | undefined
  path: string
  query: URLSearchParams
  form: URLSearchParams
  body: string
}

export type Reply = { status: number; headers: Record<string, string>; body: string }

export function json(body: unknown, status = 200): Reply {
  return jsonText(JSON.stringify(body), status)
}

/** A JSON answer from text, because its numbers may be larger than JavaScript can hold. */
export function jsonText(body: string, status = 200): Reply {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body }
}

export function text(body: string, type = 'text/html', status = 200): Reply {
  return { status, headers: { 'content-type': `${type}; charset=utf-8` }, body }
}

export function redirect(location: string): Reply {
  return { status: 303, headers: { location }, body: '' }
}

/** Returns undefined if the value is not an object, or has no such field. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/** Returns undefined if the text is not JSON. */
export function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
