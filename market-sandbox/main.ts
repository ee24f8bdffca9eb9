import { startMarket } from './start.ts'

const {
  MARKET_SANDBOX_PORT,
  MARKET_SANDBOX_DATA,
  MARKET_SANDBOX_PRICES,
  MARKET_SANDBOX_STDIN,
  STEAM_SANDBOX_URL,
} = process.env
const market = await startMarket({
  port: Number(MARKET_SANDBOX_PORT ?? 4303),
  steamUrl: STEAM_SANDBOX_URL ?? 'http://localhost:4301',
  ...(MARKET_SANDBOX_DATA ? { dataFile: MARKET_SANDBOX_DATA } : {}),
  ...(MARKET_SANDBOX_PRICES ? { pricesFile: MARKET_SANDBOX_PRICES } : {}),
})
console.log(`market sandbox ready at ${market.url}`)

let isStopping = false
async function stop() {
  if (isStopping) return
  isStopping = true
  await market.close()
  process.exit(0)
}

process.once('SIGTERM', stop)
process.once('SIGINT', stop)
if (MARKET_SANDBOX_STDIN === '1') process.stdin.resume().once('end', stop)
