import * as fc from 'fast-check'

export type JsonSchema = { [key: string]: unknown }

/** Values of any kind, many of which callers should not send: invalid numbers, lone surrogates, inherited names. */
export const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(
    null,
    true,
    0,
    -1,
    1.005,
    Number.POSITIVE_INFINITY,
    2 ** 53,
    '',
    ' 1',
    '1e3',
    '\uff11',
    '\u0000',
    '\ud800',
    '%00',
  ),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.double(),
  fc.array(fc.integer(), { maxLength: 3 }),
  fc.constantFrom(
    JSON.parse('{"__proto__":{"status":"succeeded"}}'),
    { constructor: { prototype: {} } },
    { storeId: 1, status: 'succeeded', amount: 1 },
    "'; drop table deposit; --",
    'x'.repeat(10_000),
  ),
)

type Schemas = Record<string, JsonSchema>

/** Generates values of the schema. They may break most of its patterns, and rules that JSON Schema cannot express. */
export function fitting(schema: JsonSchema, schemas: Schemas): fc.Arbitrary<unknown> {
  if (typeof schema.$ref === 'string') {
    return fitting(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, schemas)
  }
  for (const variants of [schema.anyOf, schema.oneOf]) {
    if (Array.isArray(variants))
      return fc.oneof(...variants.map((variant) => fitting(recordOf(variant), schemas)))
  }
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum)
  if (schema.const !== undefined) return fc.constant(schema.const)
  switch (schema.type) {
    case 'object':
      return objectOf(schema, schemas)
    case 'array': {
      const items = recordOf(schema.items)
      const maxLength = Math.min(numberOf(schema.maxItems, 4), 4)
      return fc.array(fitting(items, schemas), { minLength: numberOf(schema.minItems, 0), maxLength })
    }
    case 'integer':
    case 'number':
      return fc.integer({
        min: Math.max(numberOf(schema.minimum, -1_000), numberOf(schema.exclusiveMinimum, -1_001) + 1),
        max: Math.min(numberOf(schema.maximum, 2 ** 31 - 1), 2 ** 31 - 1),
      })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'string':
      return textOf(schema)
    default:
      return anyValue
  }
}

function objectOf(schema: JsonSchema, schemas: Schemas): fc.Arbitrary<unknown> {
  const properties = Object.entries(recordOf(schema.properties))
  const required = Array.isArray(schema.required) ? schema.required : []
  const model = Object.fromEntries(
    properties.map(([name, value]) => [name, fitting(recordOf(value), schemas)]),
  )
  const known = fc.record(model, { requiredKeys: required.filter((name) => name in model) })
  if (typeof schema.additionalProperties !== 'object' || schema.additionalProperties === null) return known
  const more = fitting(recordOf(schema.additionalProperties), schemas)
  return fc.dictionary(fc.string({ minLength: 1, maxLength: 10 }), more, { maxKeys: 4 })
}

function textOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.format === 'date-time') {
    return fc
      .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString())
  }
  if (schema.format === 'uuid') return fc.uuid()
  if (schema.pattern === '^[1-9]\\d{0,17}$') return fc.bigInt({ min: 1n, max: 10n ** 18n - 1n }).map(String)
  const [minLength, maxLength] = [
    numberOf(schema.minLength, 0),
    Math.min(numberOf(schema.maxLength, 60), 130),
  ]
  return fc.oneof(
    fc.string({ minLength, maxLength }),
    fc.string({ unit: 'grapheme', minLength, maxLength: Math.max(minLength, Math.floor(maxLength / 4)) }),
  )
}

const recordOf = (value: unknown): JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}

const numberOf = (value: unknown, fallback: number): number => (typeof value === 'number' ? value : fallback)
