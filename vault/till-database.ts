import pg from 'pg'

const CONNECT_TIMEOUT_MS = 10_000
const QUERY_TIMEOUT_MS = 20_000

export type Query = (text: string, values?: readonly unknown[]) => Promise<{ rows: unknown[] }>

export function openDatabase(url: string): { query: Query; close(): Promise<void> } {
  const pool = new pg.Pool({
    connectionString: url,
    max: 1,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    application_name: 'tradetill vault',
  })
  // Without a listener, the loss of an idle connection would end the process. The next query opens a new one.
  pool.on('error', () => {})
  return {
    query: (text, values = []) => pool.query(text, [...values]),
    close: () => pool.end(),
  }
}
