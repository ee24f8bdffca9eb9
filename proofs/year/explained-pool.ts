/** A pool that runs EXPLAIN before each query that has a plan, and measures the time of every query. */
import pg from 'pg'
import { z } from 'zod'

/** A statement that ran. `rows`: the rows that it returned. `complaints`: its complete reads of growing tables. */
export type ObservedStatement = { text: string; ms: number; rows: number; complaints: string[] }

/** The planner may prefer to read all of a table with fewer rows than this, so such tables cause no complaint. */
const FEW_ROWS = 10_000

/** Tables that grow with deposits, reversals, operators' acts or time. */
export const GROWING: readonly string[] = [
  'adjustment',
  'careful_shopper',
  'custody_entry',
  'departed_item',
  'departure',
  'deposit',
  'deposit_link',
  'event',
  'exchange_rate',
  'idempotency_key',
  'inventory_request',
  'learnt_asset',
  'ledger_entry',
  'lost_credit',
  'market_entry',
  'moved_alone',
  'operator_act',
  'payout',
  'payout_void',
  'proposal',
  'quote',
  'quote_item',
  'quote_price',
  'sale',
  'sent_back_item',
  'trade',
  'trade_item',
  'vault_deed',
  'vault_told',
  'webhook_attempt',
  'webhook_delivery',
  'webhook_replay',
  'wish',
  'wish_item',
]

/** Views of tables that grow. */
export const VIEWS: readonly string[] = ['item_cost']

/** Tables with few rows, or with a row for each store, bot, item in custody, operator, process, item name or day kept. */
export const BOUNDED: readonly string[] = [
  'account',
  'alert',
  'api_key',
  'approval_limit',
  'bot',
  'bot_bar',
  'bot_calls',
  'bot_doubt',
  'bot_games',
  'bot_history',
  'credit_at_risk',
  'custody_drift',
  'custody_look',
  'denied_shopper',
  'epoch',
  'gateway_process',
  'halt',
  'held_item',
  'held_items_mark',
  'ledger_check',
  'market_account',
  'market_balance',
  'market_off',
  'migration',
  'operator',
  'operator_challenge',
  'operator_link',
  'operator_passkey',
  'operator_session',
  'outage',
  'page_vital',
  'price',
  'price_feed',
  'price_hold',
  'reversed_total',
  'send_rule',
  'steam_calls',
  'store',
  'sweep_place',
  'till_clock',
  'till_identity',
  'vault_need',
  'vault_unlisted',
  'verified_balance',
  'webhook_address',
  'webhook_endpoint',
]

/** Matches statements that PostgreSQL can explain. */
const EXPLAINABLE = /^(?:\s|--.*)*(select|insert|update|delete|with)\b/i

const nodeSchema = z.looseObject({
  'Node Type': z.string(),
  'Relation Name': z.string().optional(),
  'Index Name': z.string().optional(),
  'Index Cond': z.string().optional(),
  Plans: z.array(z.unknown()).default([]),
})
const explainedSchema = z.array(z.object({ 'QUERY PLAN': z.array(z.object({ Plan: z.unknown() })) }))

/** `wholeIndexes`: indexes that may be read completely, because they contain only a few rows of their table. */
type Tables = { growing: ReadonlySet<string>; wholeIndexes: ReadonlySet<string> }

function complaintsOf(plan: unknown, tables: Tables, isLimited = false): string[] {
  const { growing, wholeIndexes } = tables
  const node = nodeSchema.parse(plan)
  const { 'Node Type': type, 'Relation Name': table = '', 'Index Name': index = '' } = node
  const complaints: string[] = []
  if (type === 'Seq Scan' && growing.has(table)) complaints.push(`reads all of ${table}`)
  const isWhole = /^Index( Only)? Scan$/.test(type) && node['Index Cond'] === undefined
  if (isWhole && growing.has(table) && !isLimited && !wholeIndexes.has(index))
    complaints.push(`reads all of ${table} by ${index}`)
  const isLimitedInside = type === 'Limit' || (isLimited && type !== 'Sort' && type !== 'Aggregate')
  return [...complaints, ...node.Plans.flatMap((inner) => complaintsOf(inner, tables, isLimitedInside))]
}

export type ObservedPool = {
  pool: pg.Pool
  /** Returns the statements since its previous call. */
  takeStatements(): ObservedStatement[]
}

/** `settings`: a statement that each connection runs first. If it is given, small tables are checked too. */
export async function observePool(url: string, settings = ''): Promise<ObservedPool> {
  const statements: ObservedStatement[] = []
  const pool = new pg.Pool({ connectionString: url, max: 2, types: INT8 })
  const wholeIndexes = new Set<string>()
  const growing = new Set<string>()
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (text: unknown, values?: unknown) => Promise<pg.QueryResult>
    // Not awaited: the client runs its queries in order, so this one is first.
    if (settings !== '') void query(settings)
    const observed = async (text: string, values: unknown[]): Promise<pg.QueryResult> => {
      const complaints: string[] = []
      if (EXPLAINABLE.test(text)) {
        const { rows } = await query(`explain (format json) ${text}`, values)
        const [explained] = explainedSchema.parse(rows)
        for (const { Plan } of explained?.['QUERY PLAN'] ?? [])
          complaints.push(...complaintsOf(Plan, { growing, wholeIndexes }))
      }
      const beganMs = performance.now()
      const answer = await query(text, values)
      statements.push({ text, ms: performance.now() - beganMs, rows: answer.rows.length, complaints })
      return answer
    }
    Object.assign(client, {
      query: (text: unknown, values: unknown[] = []) =>
        typeof text === 'string' ? observed(text, values) : query(text, values),
    })
  })
  const client = await pool.connect()
  const { rows } = await client.query<{ name: string }>(
    'select relname as name from pg_index join pg_class on oid = indexrelid where indpred is not null',
  )
  for (const { name } of rows) wholeIndexes.add(name)
  const { rows: large } = await client.query<{ name: string }>(
    'select relname as name from pg_class where relname = any($1) and reltuples >= $2',
    [GROWING, settings === '' ? FEW_ROWS : 0],
  )
  for (const { name } of large) growing.add(name)
  client.release()
  const takeStatements = () => statements.splice(0)
  takeStatements()
  return { pool, takeStatements }
}

const INT8_OID = 20
const INT8_ARRAY_OID = 1016
/** Reads int8 as bigint, like the gateway. */
const INT8: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: string) => {
    if (format !== 'binary' && oid === INT8_OID) return (text: string) => BigInt(text)
    if (format !== 'binary' && oid === INT8_ARRAY_OID)
      return (text: string) => text.slice(1, -1).split(',').filter(Boolean).map(BigInt)
    return pg.types.getTypeParser(oid, format as 'text')
  },
}
