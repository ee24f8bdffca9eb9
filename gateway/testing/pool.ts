import pg from 'pg'

/**
 * A pool apart from the till's. When its database is dropped, the server may cut a connection of the pool after the
 * pool has ended. Without a listener, the cut would be an error outside every test.
 */
export function testPool(url: string, max = 1): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
