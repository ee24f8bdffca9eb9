/** Compares schema.ts and the contract with the database that the migrations make. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EVENT_OF_STATUS } from '../../contract/event-types.ts'
import { GAMES } from '../../contract/games.ts'
import { SCOPES } from '../../contract/scopes.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { type TypedColumn, typedColumns } from '../testing/schema-types.ts'
import { DELIVERED_TRADE_STATES, OPEN_TRADE_STATES } from './trade-tables.ts'

/** The TypeScript type that Kysely, with our int8 parser, returns for each type of PostgreSQL. */
const READ_AS: Record<string, string> = {
  bigint: 'bigint',
  'bigint[]': 'bigint[]',
  boolean: 'boolean',
  bytea: 'Buffer',
  integer: 'number',
  'integer[]': 'number[]',
  jsonb: 'object',
  'numeric(18,8)': 'string',
  text: 'string',
  'text[]': 'string[]',
  'timestamp with time zone': 'Date',
  uuid: 'string',
}

type RealColumn = { at: string; type: string; isNullable: boolean; hasDefault: boolean }
type Check = { at: string; name: string; definition: string }

let database: TestDatabase
let real: RealColumn[]
let checks: Check[]
let typed: Map<string, TypedColumn>

beforeAll(async () => {
  database = await testDatabase()
  const columns = sql<RealColumn>`
    select relname || '.' || attname as at, format_type(atttypid, atttypmod) as type, not attnotnull as "isNullable",
      atthasdef or attidentity <> '' as "hasDefault"
    from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'migration'
      and attnum > 0 and not attisdropped`
  const lists = sql<Check>`
    select conrelid::regclass || '.' || attname as at, conname as name, pg_get_constraintdef(pg_constraint.oid) as definition
    from pg_constraint join pg_attribute on attrelid = conrelid and array[attnum] = conkey
    where connamespace = 'public'::regnamespace and contype = 'c'`
  real = (await columns.execute(database.db)).rows
  checks = (await lists.execute(database.db)).rows
  typed = typedColumns()
})

afterAll(() => database.close())

function kindOf(value: unknown): string {
  if (value instanceof Date) return 'Date'
  return value instanceof Buffer ? 'Buffer' : typeof value
}

/** The strings in an SQL text, sorted. */
const textsOf = (definition: string): string[] =>
  [...definition.matchAll(/'([^']*)'::text/g)].map(([, text]) => text ?? '').sort()

/** The values that CHECKs list for a column; undefined if no CHECK does. */
function checkedValues(at: string): string[] | undefined {
  const listCheck = checks.find(
    (check) => check.at === at && /(?:= ANY \(|<@ )ARRAY\[|= '[^']*'::text\)/.test(check.definition),
  )
  return listCheck && textsOf(listCheck.definition)
}

const missingIn = (present: readonly string[], expected: readonly string[]): string[] =>
  expected.filter((value) => !present.includes(value))

async function predicateOf(index: string): Promise<string> {
  const { rows } = await sql<{ predicate: string }>`
    select pg_get_expr(indpred, indrelid) as predicate from pg_index where indexrelid = ${index}::regclass`.execute(
    database.db,
  )
  return rows[0]?.predicate ?? ''
}

describe('schema.ts', () => {
  test('names every column of the database, and no other', () => {
    const [ours, theirs] = [[...typed.keys()], real.map(({ at }) => at)]
    expect(theirs.length).toBeGreaterThan(200)
    expect(missingIn(ours, theirs).map((at) => `${at} is in the migrations, but not in schema.ts`)).toEqual(
      [],
    )
    expect(missingIn(theirs, ours).map((at) => `${at} is in schema.ts, but not in the migrations`)).toEqual(
      [],
    )
  })

  test('is compared with a list of types that agrees with PostgreSQL’s driver', async () => {
    const samples: Record<string, string> = {
      bytea: `'\\x00'`,
      jsonb: `'{}'`,
      boolean: `'true'`,
      uuid: 'gen_random_uuid()',
      'timestamp with time zone': 'now()',
    }
    const complaints: string[] = []
    for (const [type, name] of Object.entries(READ_AS)) {
      const isList = type.endsWith('[]')
      const text = isList ? `'{1}'` : (samples[type] ?? `'1'`)
      const { rows } = await sql<{ value: unknown }>`select ${sql.raw(`${text}::${type}`)} as value`.execute(
        database.db,
      )
      const value = rows[0]?.value
      const actualType = Array.isArray(value) ? `${kindOf(value[0])}[]` : kindOf(value)
      if (actualType !== name) complaints.push(`${type} is read as ${actualType}, not as ${name}`)
    }
    expect(complaints).toEqual([])
  })

  test('gives each column its type and nullability, and requires every value that PostgreSQL needs in an insert', () => {
    const complaints = real.flatMap(({ at, type, isNullable, hasDefault }) => {
      const typedColumn = typed.get(at)
      if (typedColumn === undefined) return []
      const expectedType = READ_AS[type] ?? `no type that schema.test.ts knows for ${type}`
      return [
        ...(typedColumn.type === expectedType
          ? []
          : [`${at} is read as ${expectedType}, and schema.ts says ${typedColumn.type}`]),
        ...(typedColumn.isNullable === isNullable
          ? []
          : [`${at} ${isNullable ? 'may' : 'cannot'} be null, and schema.ts says the opposite`]),
        ...(typedColumn.isOptional && !isNullable && !hasDefault
          ? [`${at} has no default, and schema.ts lets an insert leave it out`]
          : []),
      ]
    })
    expect(complaints).toEqual([])
  })
})

describe('a list of values', () => {
  test('in a CHECK equals the list in schema.ts, which uses the contract’s types', () => {
    const complaints = [...typed].flatMap(([at, { values }]) => {
      const checked = checkedValues(at)
      if (checked === undefined || values === null) return []
      return [
        ...missingIn(checked, values).map((value) => `the CHECK of ${at} in migrations/ lacks '${value}'`),
        ...missingIn(values, checked).map((value) => `the type of ${at} in schema.ts lacks '${value}'`),
      ]
    })
    expect(complaints).toEqual([])
  })

  test('is both in a CHECK and in schema.ts', () => {
    const complaints = [...typed].flatMap(([at, { values }]) => {
      const checked = checkedValues(at)
      if (values !== null && checked === undefined) {
        return [`${at} has a list of values in schema.ts, and no CHECK in migrations/`]
      }
      return values === null && checked !== undefined ? [`${at} has a CHECK, and any value in schema.ts`] : []
    })
    expect(complaints).toEqual([])
  })

  test('for the games of a deposit may contain all games', () => {
    const games = checks.find(({ at }) => at === 'deposit.games')
    expect(games?.definition).toContain(`(cardinality(games) <= ${GAMES.length})`)
  })

  test('for the scopes of a key contains all scopes by default', async () => {
    const { rows } = await sql<{ text: string }>`
      select pg_get_expr(adbin, adrelid) as text from pg_attrdef
      join pg_attribute on attrelid = adrelid and attnum = adnum
      where adrelid = 'api_key'::regclass and attname = 'scopes'`.execute(database.db)
    expect(textsOf(rows[0]?.text ?? '')).toEqual([...SCOPES].sort())
  })

  test.each([
    ['trade_one_open', OPEN_TRADE_STATES],
    ['trade_of_bot', OPEN_TRADE_STATES],
    ['deposit_open', ['created', 'pending']],
  ])('in the index %s equals the list in the code', async (index, states) => {
    expect(textsOf(await predicateOf(index))).toEqual([...states].sort())
  })
})

test('every foreign key has an index, so a deleted row causes no table scan', async () => {
  const referring = sql`
    select conrelid, conkey, conrelid::regclass || '.' || (
        select string_agg(attname, ', ') from pg_attribute where attrelid = conrelid and attnum = any(conkey)) as at
    from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`
  const { rows: foreignKeys } = await sql<{ at: string }>`${referring}`.execute(database.db)
  // An index may omit only rows without a reference.
  const { rows: withoutIndex } = await sql<{ at: string }>`
    select at from (${referring}) referring where not exists (
      select from pg_index
      join pg_attribute on attrelid = indrelid and attnum = indkey[0]
      where indrelid = conrelid and indkey[0] = any(conkey)
        and (indpred is null or pg_get_expr(indpred, indrelid) = format('(%I IS NOT NULL)', attname)))
    order by at`.execute(database.db)
  expect(foreignKeys.length).toBeGreaterThan(30)
  expect(withoutIndex.map(({ at }) => `${at} has no index`)).toEqual([])
})

describe('verify.sql', () => {
  const text = readFileSync(join(import.meta.dirname, '../ledger/verify.sql'), 'utf8')

  test('names the event of every status', () => {
    const cases = [...text.matchAll(/when '(\w+)' then '(deposit\.\w+)'/g)].map(([, status, type]) => [
      status,
      type,
    ])
    expect(Object.fromEntries(cases)).toEqual(EVENT_OF_STATUS)
  })

  test('names the states of a delivered trade', () => {
    const states = /\(delivered_at is not null\) <> \(state in \(([^)]*)\)\)/.exec(text)?.[1]
    expect(states).toBe(DELIVERED_TRADE_STATES.map((state) => `'${state}'`).join(', '))
  })

  test('names no currency, because it takes currencies from the rows', () => {
    expect(text.match(/'[A-Z]{3}'/g)).toBeNull()
  })
})
