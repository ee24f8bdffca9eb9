/** Hides secrets by their form, wherever they appear in a text. */

const SECRET_FORMS: [RegExp, string][] = [
  [/\btt_(test|live)_[\w-]+/g, 'tt_$1_[redacted]'],
  [/\bwhsec_[A-Za-z0-9+/=]+/g, 'whsec_[redacted]'],
  [/\bey[JA][\w-]{8,}\.[\w-]+\.[\w-]+/g, '[redacted jwt]'],
  [/\b(token|access_token|refresh_token|sessionid|steamLoginSecure)(=|%3D)[^&\s"'\\;]+/gi, '$1=[redacted]'],
  [/\bBearer\s+[^\s"'\\]+/gi, 'Bearer [redacted]'],
  [/\b(postgres(?:ql)?:\/\/[^:@/\s"]+):[^@\s"]+@/g, '$1:[redacted]@'],
  [/\b([0-9a-f]{6})[0-9a-f]{26}\b/g, '$1…'],
]

/** Hides what has the form of a secret in a line of text. */
export function scrub(line: string): string {
  return SECRET_FORMS.reduce((text, [form, replacement]) => text.replace(form, replacement), line)
}
