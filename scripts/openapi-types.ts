/**
 * Generates types from an OpenAPI document: for the package that stores use, and, in a test, for an entire client,
 * which proves that the document is complete.
 */

type Schema = Record<string, unknown>

const isRecord = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const recordOf = (value: unknown): Schema => (isRecord(value) ? value : {})
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** Returns the type of a schema. Throws at an unknown form, so nothing silently becomes `any`. */
function typeOf(schema: Schema): string {
  if (typeof schema.$ref === 'string') return schema.$ref.replace('#/components/schemas/', '')
  const variants = [...listOf(schema.anyOf), ...listOf(schema.oneOf)].map((variant) =>
    typeOf(recordOf(variant)),
  )
  if (variants.length > 0) return variants.join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  // Suggest the known values, and allow others.
  const known = listOf(schema['x-extensible-enum']).map((value) => JSON.stringify(value))
  if (known.length > 0) return `${known.join(' | ')} | (string & {})`
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ')
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return `(${typeOf(recordOf(schema.items))})[]`
    case 'object':
      return objectOf(schema)
    default:
      throw new Error(`a client cannot be generated from ${JSON.stringify(schema)}`)
  }
}

function objectOf(schema: Schema): string {
  const required = listOf(schema.required)
  const fields = Object.entries(recordOf(schema.properties)).map(
    ([name, value]) =>
      `${commentOf(value)}${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(recordOf(value))}`,
  )
  const additional = schema.additionalProperties
  if (isRecord(additional)) fields.push(`[key: string]: ${typeOf(additional)}`)
  return `{ ${fields.join('; ')} }`
}

function commentOf(schema: unknown): string {
  const { description } = recordOf(schema)
  return typeof description === 'string' ? `\n/** ${description.replaceAll('*/', '')} */\n` : ''
}

const jsonOf = (part: unknown): Schema | undefined => {
  const { schema } = recordOf(recordOf(recordOf(part).content)['application/json'])
  return isRecord(schema) ? schema : undefined
}

function callOf(call: Schema): string {
  const parametersIn = (place: string) =>
    listOf(call.parameters)
      .map(recordOf)
      .filter((parameter) => parameter.in === place)
  const fieldsOf = (place: string) =>
    parametersIn(place).map(
      ({ name, required, schema }) =>
        `${JSON.stringify(name)}${required === true ? '' : '?'}: ${typeOf(recordOf(schema))}`,
    )
  const body = jsonOf(call.requestBody)
  const answers = Object.entries(recordOf(call.responses)).flatMap(([status, answer]) => {
    const schema = status.startsWith('2') ? jsonOf(answer) : undefined
    return schema === undefined ? [] : [typeOf(schema)]
  })
  const parts = [
    `path: { ${fieldsOf('path').join('; ')} }`,
    `query: { ${fieldsOf('query').join('; ')} }`,
    ...(body === undefined ? [] : [`body: ${typeOf(body)}`]),
  ]
  return `${String(call.operationId)}(call: { ${parts.join('; ')} }): Promise<${[...new Set(answers)].join(' | ')}>`
}

const shapeOf = (name: string, schema: unknown): string => `export type ${name} = ${typeOf(recordOf(schema))}`

/** Returns the types of these shapes, and of the shapes to which they refer. */
export function shapesOf(document: unknown, names: readonly string[]): string {
  const schemas = recordOf(recordOf(recordOf(document).components).schemas)
  const wanted = new Set(names)
  // The loop also visits the names that it adds.
  for (const name of wanted) {
    for (const [, other = ''] of JSON.stringify(schemas[name]).matchAll(/#\/components\/schemas\/(\w+)/g))
      wanted.add(other)
  }
  return [...wanted]
    .sort()
    .map((name) => shapeOf(name, schemas[name]))
    .join('\n\n')
}

/** Returns the text of a module: the types of all shapes, `Client` (with every call) and `Webhooks`. */
export function clientOf(document: unknown): string {
  const { components, paths, webhooks } = recordOf(document)
  const shapes = Object.entries(recordOf(recordOf(components).schemas)).map(([name, schema]) =>
    shapeOf(name, schema),
  )
  const calls = Object.values(recordOf(paths)).flatMap((methods) =>
    Object.values(recordOf(methods)).map((call) => `  ${callOf(recordOf(call))}`),
  )
  const messages = Object.entries(recordOf(webhooks)).map(([name, hook]) => {
    const body = jsonOf(recordOf(recordOf(hook).post).requestBody)
    return `  ${name}: ${typeOf(body ?? {})}`
  })
  return [
    ...shapes,
    `export interface Client {\n${calls.join('\n')}\n}`,
    `export interface Webhooks {\n${messages.join('\n')}\n}`,
    '',
  ].join('\n')
}
