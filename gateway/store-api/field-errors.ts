/** The invalid fields of a store's call, each with what to send instead. */
import type { z } from 'zod'
import { canDecode } from '../http/readable-path.ts'
import type { FieldError } from '../http/refusal.ts'

/** Returns a message for an issue for which the contract has none. zod's messages name its types, such as "int". */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return messageOfType(issue)
    case 'invalid_value':
      return messageOfValue(issue)
    case 'too_small':
      if (issue.origin === 'string' || issue.origin === 'array') return 'must not be empty'
      return issue.inclusive ? `must be at least ${issue.minimum}` : `must be larger than ${issue.minimum}`
    case 'too_big':
      if (issue.origin === 'string') return `must have at most ${issue.maximum} characters`
      if (issue.origin === 'array') return `must have at most ${issue.maximum} entries`
      return `must be at most ${issue.maximum}`
    case 'invalid_format':
      return issue.format === 'uuid' ? 'must be a UUID' : undefined
    default:
      return undefined
  }
}

function messageOfType({ expected, input, path }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidType>) {
  const quotationHint = typeof input === 'string' ? ', without quotation marks' : ''
  switch (expected) {
    case 'number':
    case 'int': {
      const isAmount = String(path?.at(-1)).endsWith('Amount')
      return `must be a whole number${isAmount ? ' of minor units, such as 1250 for 12.50' : ''}${quotationHint}`
    }
    case 'boolean':
      return `must be true or false${quotationHint}`
    case 'string':
      return 'must be a text'
    case 'array':
      return 'must be a list'
    case 'object':
    case 'record':
      return 'must be an object'
    default:
      return undefined
  }
}

function messageOfValue({ values, input }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidValue>): string {
  const lower = String(input).toLowerCase()
  const meant = values.find((value) => String(value).toLowerCase() === lower)
  if (meant !== undefined) return `must be written "${String(meant)}"`
  return `must be one of ${values.map((value) => `"${String(value)}"`).join(', ')}`
}

/** Returns the wrong fields as the caller names them, without the prefix `body`, `query` or `params`. */
export function fieldsOf({ issues }: z.ZodError, given: object): FieldError[] {
  const fields = issues.flatMap((issue) => {
    const path = issue.path.slice(1)
    if (issue.code === 'unrecognized_keys') {
      const message = 'is not a field of this call'
      return issue.keys.map((key) => ({ path: [...path, key].join('.'), message }))
    }
    if (path.length === 0 && issue.code === 'invalid_type')
      return [{ path: '', message: 'the body must be a JSON object' }]
    if (issue.code === 'invalid_key') {
      return [{ path: path.join('.'), message: `the key is invalid: ${issue.issues[0]?.message}` }]
    }
    const value = valueAt(given, issue.path)
    if (isRepeated(issue, value)) return [{ path: path.join('.'), message: 'must be given only once' }]
    const message = path.length > 0 ? (messageOfAbsent(value) ?? issue.message) : issue.message
    return [{ path: path.join('.'), message }]
  })
  // A number beyond two limits breaks both, and zod reports each.
  const texts = fields.map((field) => JSON.stringify(field))
  return fields.filter((_, index) => texts.indexOf(texts[index] ?? '') === index)
}

/** The most parameters that one refusal names. */
const MOST_NAMED = 20

/**
 * Returns parameters of a query that cannot be decoded. The parser leaves them as they are, so an order id in Latin-1
 * would be looked up with its percent signs, and not be found.
 */
export function undecodableIn(url: string): FieldError[] {
  const parameters = url.split('?').slice(1).join('?').split('&')
  return parameters
    .filter((parameter) => !canDecode(parameter))
    .slice(0, MOST_NAMED)
    .map((parameter) => ({
      path: parameter.split('=')[0] ?? '',
      message: 'must be UTF-8, and URL-encoded',
    }))
}

/** A query in which a name occurs twice is read as a list. A field that accepts lists has a message of its own. */
const isRepeated = ({ path, code }: z.core.$ZodIssue, value: unknown): boolean =>
  path[0] === 'query' && Array.isArray(value) && (code === 'invalid_type' || code === 'invalid_value')

/** Some languages write null for a field without a value. */
const messageOfAbsent = (value: unknown): string | undefined => {
  if (value === undefined) return 'is required'
  return value === null ? 'must not be null: leave out a field without a value' : undefined
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  )
