import pg from 'pg'

/**
 * Connections beside those of the till, for code that takes a pool. The server may still end it after the pool was
 * ended, when its database is dropped: without listeners that would be an error outside of every test.
 */
export function testPool(url: string, max = 1): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
