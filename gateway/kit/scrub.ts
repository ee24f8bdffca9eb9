type Form = [form: RegExp, replacement: string | ((found: string) => string)]

/**
 * A Steam token is a JWT: it begins with the base64 of `{"` or `{ "`. Even half a token can reveal its account, so a
 * part with this many characters is hidden too.
 */
const LEAST_JWT_CHARACTERS = 24

/**
 * Each pattern runs in linear time; `architecture.test.ts` checks this. Case is ignored, because the writer of the text
 * may have changed it.
 */
const SECRET_FORMS: Form[] = [
  [/\btt_(test|live)_[\w-]+/gi, 'tt_$1_[redacted]'],
  [/\bwhsec_[A-Za-z0-9+/=]+/gi, 'whsec_[redacted]'],
  [/\bey[ja][\w.-]+/gi, (run) => (isToken(run) ? '[redacted jwt]' : run)],
  [/\b(\w{0,20}token|sessionid|steamLoginSecure)(=|%3D)[^&\s"'\\;]+/gi, '$1$2[redacted]'],
  // JSON inside a string, quoted up to three times: after that, seven backslashes precede each quote.
  [/\b(\w{0,20}token|sessionid|steamLoginSecure)(\\{0,8}["']:\s?\\{0,8}["'])[^"'\\]+/gi, '$1$2[redacted]'],
  [/\bBearer\s+[^\s"'\\]+/gi, 'Bearer [redacted]'],
  [/\b(postgres(?:ql)?:\/\/[^:@/\s"]+):[^@\s"]+/gi, '$1:[redacted]'],
  // A deposit's hash, which opens its page. The first six digits are enough to find it in a log.
  [/(%[0-9a-f]{2}|(?<![0-9a-f]))([0-9a-f]{6})[0-9a-f]{26}(?![0-9a-f])/gi, '$1$2…'],
]

function isToken(run: string): boolean {
  const [head = '', ...rest] = run.split('.')
  // A shorter text is a whole token if it has three parts, and the first is longer than a name such as `Eyjolf`.
  return run.length >= LEAST_JWT_CHARACTERS || (head.length > 10 && rest.length > 1)
}

/** Hides everything that has the form of a secret. */
export function scrub(line: string): string {
  return SECRET_FORMS.reduce(
    (text, [form, replacement]) =>
      typeof replacement === 'string' ? text.replace(form, replacement) : text.replace(form, replacement),
    line,
  )
}
