/** One request and its answer, and what routes need to read and write them. */
export type Incoming = {
  method: string
  /** Without a port. */
  host: string
  /** Meant for the sandbox itself, not for one of the market's hosts. */
  own: boolean
  origin: string | undefined
  path: string
  query: URLSearchParams
  form: URLSearchParams
  body: string
}

export type Reply = { status: number; headers: Record<string, string>; body: string }

export function json(body: unknown, status = 200): Reply {
  return written(JSON.stringify(body), status)
}

/** JSON that is built as text: its numbers may be larger than JavaScript can hold. */
export function written(body: string, status = 200): Reply {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body }
}

export function text(body: string, type = 'text/html', status = 200): Reply {
  return { status, headers: { 'content-type': `${type}; charset=utf-8` }, body }
}

export function redirect(location: string): Reply {
  return { status: 303, headers: { location }, body: '' }
}

/** A field of an untrusted value. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/** Undefined for a text that is not JSON. */
export function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
