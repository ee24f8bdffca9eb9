/** A pool that has every statement explained right before it runs, and takes its time. */
import pg from 'pg'
import { z } from 'zod'

export type Asked = { text: string; ms: number; complaints: string[] }

/** Tables that grow with every deposit. */
export const GROWING: readonly string[] = [
  'custody_entry',
  'deposit',
  'deposit_link',
  'event',
  'idempotency_key',
  'inventory_request',
  'ledger_entry',
  'quote',
  'quote_item',
  'quote_price',
  'trade',
  'trade_item',
  'webhook_attempt',
  'webhook_delivery',
]

const EXPLAINED = /^(?:\s|--.*)*(select|insert|update|delete|with)\b/i

const nodeSchema = z.looseObject({
  'Node Type': z.string(),
  'Relation Name': z.string().optional(),
  'Index Name': z.string().optional(),
  'Index Cond': z.string().optional(),
  Plans: z.array(z.unknown()).default([]),
})
const explainedSchema = z.array(z.object({ 'QUERY PLAN': z.array(z.object({ Plan: z.unknown() })) }))

/** `wholeIndexes`: those that one may be read to its end, because they hold a few rows of their table only. */
function complaintsOf(plan: unknown, wholeIndexes: ReadonlySet<string>, isLimited = false): string[] {
  const node = nodeSchema.parse(plan)
  const { 'Node Type': type, 'Relation Name': table = '', 'Index Name': index = '' } = node
  const own: string[] = []
  if (type === 'Seq Scan' && GROWING.includes(table)) own.push(`reads all of ${table}`)
  const isWhole = /^Index( Only)? Scan$/.test(type) && node['Index Cond'] === undefined
  if (isWhole && GROWING.includes(table) && !isLimited && !wholeIndexes.has(index))
    own.push(`reads all of ${table} by ${index}`)
  const limited = type === 'Limit' || (isLimited && type !== 'Sort' && type !== 'Aggregate')
  return [...own, ...node.Plans.flatMap((inner) => complaintsOf(inner, wholeIndexes, limited))]
}

export type ObservedPool = {
  pool: pg.Pool /** What was asked since the last call of it. */
  taken(): Asked[]
}

/** `settings` is what each connection begins with. */
export async function observePool(url: string, settings = ''): Promise<ObservedPool> {
  const asked: Asked[] = []
  const pool = new pg.Pool({ connectionString: url, max: 2, types: INT8 })
  const wholeIndexes = new Set<string>()
  pool.on('connect', (client) => {
    const plain = client.query.bind(client) as (text: unknown, values?: unknown) => Promise<pg.QueryResult>
    if (settings !== '') void plain(settings)
    const observed = async (text: string, values: unknown[]): Promise<pg.QueryResult> => {
      const complaints: string[] = []
      if (EXPLAINED.test(text)) {
        const { rows } = await plain(`explain (format json) ${text}`, values)
        const [explained] = explainedSchema.parse(rows)
        for (const { Plan } of explained?.['QUERY PLAN'] ?? [])
          complaints.push(...complaintsOf(Plan, wholeIndexes))
      }
      const begun = performance.now()
      const answer = await plain(text, values)
      asked.push({ text, ms: performance.now() - begun, complaints })
      return answer
    }
    Object.assign(client, {
      query: (query: unknown, values: unknown[] = []) =>
        typeof query === 'string' ? observed(query, values) : plain(query, values),
    })
  })
  const client = await pool.connect()
  const { rows } = await client.query<{ name: string }>(
    'select relname as name from pg_index join pg_class on oid = indexrelid where indpred is not null',
  )
  for (const { name } of rows) wholeIndexes.add(name)
  client.release()
  const taken = () => asked.splice(0)
  taken()
  return { pool, taken }
}

/** int8 as bigint, as the gateway reads it. */
const INT8: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: string) => {
    if (format !== 'binary' && oid === 20) return (text: string) => BigInt(text)
    if (format !== 'binary' && oid === 1016)
      return (text: string) => text.slice(1, -1).split(',').filter(Boolean).map(BigInt)
    return pg.types.getTypeParser(oid, format as 'text')
  },
}
