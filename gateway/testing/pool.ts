import pg from 'pg'

/**
 * A pool apart from the till's. The server may still cut a connection after the pool was
 * ended, when its database is dropped. Without a listener, that would be an error outside every test.
 */
export function testPool(url: string, max = 1): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
