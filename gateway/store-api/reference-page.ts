/** The reference of the store API, as a page without scripts. */
import { escapeHtml } from '../http/html.ts'
import { asRecord, type DocumentedCall, type JsonSchema, type OpenApi, type Parameter } from './openapi.ts'

/** Escapes the text, marks parts between backquotes as code, and turns empty lines into line breaks. */
function prose(text: string): string {
  return escapeHtml(text)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replaceAll('\n\n', '<br>')
}

export function referencePage(document: OpenApi): string {
  const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, call]) => ({ path, method, call })),
  )
  const base = document.servers[0]?.url ?? ''
  const groups = Map.groupBy(calls, ({ call }) => call.tags[0] ?? '')
  const contents = [...groups].map(
    ([name, members]) =>
      `<li>${escapeHtml(name)}<ul>${members
        .map(({ call }) => `<li><a href="#${call.operationId}">${escapeHtml(call.summary)}</a></li>`)
        .join('')}</ul></li>`,
  )
  const sections = [...groups].map(
    ([name, members]) =>
      `<section><h2>${escapeHtml(name)}</h2>${members.map((member) => callPart(member, base)).join('')}</section>`,
  )
  const shapes = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      `<article id="schema-${name}"><h3>${escapeHtml(name)}</h3>${propertiesTable(schema)}</article>`,
  )
  const shapeLinks = Object.keys(document.components.schemas).map(
    (name) => `<li><a href="#schema-${name}">${escapeHtml(name)}</a></li>`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(document.info.title)}</title>
<link rel="stylesheet" href="/v1/reference.css">
</head>
<body>
<nav aria-label="Contents"><h2>Contents</h2><ul>${contents.join('')}<li>Shapes<ul>${shapeLinks.join('')}</ul></li></ul></nav>
<main>
<h1>${escapeHtml(document.info.title)}</h1>
<p>${prose(document.info.description)}</p>
<p>The base address is <code>${escapeHtml(base)}</code>. Every call needs the header
<code>Authorization: Bearer &lt;API key&gt;</code>. Tools can read this reference as <a href="/v1/openapi.json">OpenAPI 3.1</a>.</p>
${sections.join('')}
<section><h2>Shapes</h2>${shapes.join('')}</section>
</main>
</body>
</html>`
}

type Call = { path: string; method: string; call: DocumentedCall }

function callPart({ path, method, call }: Call, base: string): string {
  const body = call.requestBody?.content['application/json'].schema
  return `<article id="${call.operationId}">
<h3>${escapeHtml(call.summary)}</h3>
<p class="line"><b>${method.toUpperCase()}</b> <code>${escapeHtml(path)}</code></p>
<p>${prose(call.description)}</p>
<pre>${escapeHtml(curlOf({ path, method, call }, base))}</pre>
${parameterTable(call.parameters)}
${body === undefined ? '' : `<h4>Body</h4>${bodyPart(body)}`}
<h4>Answers</h4>
<dl>${Object.entries(call.responses)
    .map(([status, answer]) => {
      const schema = Object.values(answer.content)[0]?.schema
      const shape = schema === undefined ? '' : ` <span class="type">${typeOf(schema)}</span>`
      return `<dt>${escapeHtml(status)}${shape}</dt><dd>${prose(answer.description)}</dd>`
    })
    .join('')}</dl>
</article>`
}

function curlOf({ path, method, call }: Call, base: string): string {
  const needed = call.parameters.filter((parameter) => parameter.in === 'query' && parameter.required)
  const query = needed.map(({ name, schema }) => `${name}=${firstOf(schema)}`).join('&')
  const example = call.requestBody?.content['application/json'].example
  return [
    `curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} '${base}${path}${query && `?${query}`}'`,
    `-H "Authorization: Bearer $TRADETILL_API_KEY"`,
    ...(example === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(example)}'`]),
  ].join(' \\\n  ')
}

/** Returns an allowed value, or a placeholder. */
const firstOf = (schema: JsonSchema): string => (Array.isArray(schema.enum) ? String(schema.enum[0]) : '…')

const bodyPart = (schema: JsonSchema): string =>
  typeof schema.$ref === 'string' ? `<p>${typeOf(schema)}</p>` : propertiesTable(schema)

function parameterTable(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return ''
  const rows = parameters.map((parameter) =>
    row({ ...parameter, name: parameter.name, note: parameter.in === 'query' ? '' : parameter.in }),
  )
  return `<h4>Parameters</h4><table>${HEAD}<tbody>${rows.join('')}</tbody></table>`
}

const HEAD =
  '<thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>'

function propertiesTable(schema: JsonSchema): string {
  const properties = asRecord(schema.properties)
  const required = Array.isArray(schema.required) ? schema.required : []
  const rows = Object.entries(properties).map(([name, value]) => {
    const property = asRecord(value)
    const description = typeof property.description === 'string' ? property.description : ''
    return row({ name, schema: property, required: required.includes(name), description, note: '' })
  })
  const variants = variantsOf(schema).filter(({ properties }) => properties !== undefined)
  if (rows.length === 0 && variants.length > 0) return variants.map(propertiesTable).join('<p>or</p>')
  if (rows.length === 0) return `<p>${typeOf(schema)}</p>`
  return `<table>${HEAD}<tbody>${rows.join('')}</tbody></table>`
}

type Row = { name: string; schema: JsonSchema; required: boolean; description?: string; note: string }

function row({ name, schema, required, description = '', note }: Row): string {
  const notes = [note, required ? 'required' : ''].filter((text) => text !== '').join(', ')
  const limits = ['minLength', 'maxLength', 'minimum', 'maximum', 'minItems', 'maxItems', 'default']
    .filter((limit) => schema[limit] !== undefined && schema[limit] !== Number.MAX_SAFE_INTEGER)
    .map((limit) => `${limit} ${String(schema[limit])}`)
    .join(', ')
  return `<tr><td><code>${escapeHtml(name)}</code>${notes && `<br><small>${notes}</small>`}</td>
<td>${typeOf(schema)}${limits && `<br><small>${escapeHtml(limits)}</small>`}</td><td>${prose(description)}${innerTable(schema)}</td></tr>`
}

/** Returns a table of the fields of an unnamed object: the value itself, the members of a list, or a variant. */
function innerTable(schema: JsonSchema): string {
  const inner = [schema, asRecord(schema.items), ...variantsOf(schema)].find(
    ({ properties }) => properties !== undefined,
  )
  return inner === undefined ? '' : propertiesTable(inner)
}

function typeOf(schema: JsonSchema): string {
  if (typeof schema.$ref === 'string') {
    const name = escapeHtml(schema.$ref.split('/').at(-1) ?? '')
    return `<a href="#schema-${name}">${name}</a>`
  }
  const variants = variantsOf(schema)
  if (variants.length > 0) return variants.map(typeOf).join(' or ')
  const values = schema.enum ?? schema['x-extensible-enum']
  if (Array.isArray(values))
    return values.map((allowed) => `<code>${escapeHtml(String(allowed))}</code>`).join(' ')
  if (schema.const !== undefined) return `<code>${escapeHtml(String(schema.const))}</code>`
  if (schema.type === 'array') return `list of ${typeOf(asRecord(schema.items))}`
  const format = typeof schema.format === 'string' ? ` (${schema.format})` : ''
  return escapeHtml(`${typeof schema.type === 'string' ? schema.type : 'any'}${format}`)
}

function variantsOf(schema: JsonSchema): JsonSchema[] {
  for (const variants of [schema.anyOf, schema.oneOf, schema.allOf]) {
    if (Array.isArray(variants)) return variants.map(asRecord)
  }
  return []
}
