/** Combines several statements into one round trip. */
import {
  CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  DummyDriver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  Transaction,
} from 'kysely'
import type { Tx } from './client.ts'
import type { Tables } from './schema.ts'

const adapter = new PostgresAdapter()
const compiler = new PostgresQueryCompiler()
const driver = new DummyDriver()
const dialect = {
  createAdapter: () => adapter,
  createDriver: () => driver,
  createIntrospector: (db: ConstructorParameters<typeof PostgresIntrospector>[0]) =>
    new PostgresIntrospector(db),
  createQueryCompiler: () => compiler,
}

/**
 * Statements executed on `tx` are collected and return nothing. `run` sends them, and then the parts of `last`, as one
 * statement. No part sees another's changes, and two parts must not change the same row. A part of `last` may
 * read the rows that an earlier part of `last` returns, by that part's name.
 */
export type Batch = {
  tx: Tx
  run(on: Tx, last?: Readonly<Record<string, RawBuilder<unknown>>>): Promise<void>
}

export function createBatch(): Batch {
  const parts: CompiledQuery[] = []
  const collecting: DatabaseConnection = {
    executeQuery: async (query) => {
      parts.push(query)
      return { rows: [] }
    },
    // biome-ignore lint/correctness/useYield: nothing can be read from a batch
    async *streamQuery() {
      throw new Error('a batch has no rows to stream')
    },
  }
  const executor = new DefaultQueryExecutor(compiler, adapter, {
    provideConnection: (consumer) => consumer(collecting),
  })
  return {
    tx: new Transaction<Tables>({ config: { dialect }, dialect, driver, executor }),
    async run(on, last = {}) {
      const collected = parts.splice(0).map((part, index) => [`part${index}`, part] as const)
      const named = Object.entries(last).map(([name, part]) => [name, part.compile(on)] as const)
      if (collected.length + named.length > 0) await on.executeQuery(joinParts([...collected, ...named]))
    },
  }
}

/**
 * Joins the parts into one statement, which counts the rows of each. Without the counts, PostgreSQL would skip a part
 * that only selects, such as a notification, and run the others in any order.
 */
function joinParts(parts: readonly (readonly [name: string, CompiledQuery])[]): CompiledQuery {
  const parameters: unknown[] = []
  const texts = parts.map(([name, part]) => {
    const before = parameters.length
    const text = part.sql.replace(/\$(\d+)/g, (_, place: string) => `$${Number(place) + before}`)
    parameters.push(...part.parameters)
    const returnsRows = text.trimStart().toLowerCase().startsWith('select') || /\breturning\b/i.test(text)
    return `${name} as materialized (${text}${returnsRows ? '' : ' returning 1'})`
  })
  const counts = parts.map(([name]) => `(select count(*) from ${name})`)
  return CompiledQuery.raw(`with ${texts.join(', ')} select ${counts.join(', ')}`, parameters)
}
