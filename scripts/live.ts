/**
 * `npm run live`: the checks of the Steam port, run against the real Steam, and never part of `npm test`. Without
 * TRADETILL_LIVE_ITEM, their only change on Steam is to acknowledge the notice about trade protection. With the
 * variable (an asset id of the partner), an offer requests that item and is cancelled, or, with
 * TRADETILL_LIVE_ACCEPT=1, waits for the partner to accept it. With `--record` it leaves a redacted record for the
 * tests. With `--password` it asks for name, password and code, for a bot without a Steam app.
 */
import { checkLive } from '../gateway/cli/live.ts'
import { optionsOfProcess } from './options.ts'

const { env } = process
const RECORDS = 'gateway/testing/steam-records'

const { flags } = optionsOfProcess({
  command: 'npm run live',
  flags: {
    record: 'leaves a redacted record of Steam’s answers for the tests',
    password: 'asks for the name, password and code of a bot without a Steam app',
  },
})

// Awaited here, because Node exits with its own code if nothing is left to wait for.
await checkLive({
  refreshToken: env.TRADETILL_LIVE_REFRESH_TOKEN ?? '',
  usesPassword: flags.has('password'),
  tradeLink: env.TRADETILL_LIVE_TRADE_LINK ?? '',
  game: env.TRADETILL_LIVE_GAME ?? 'cs',
  item: env.TRADETILL_LIVE_ITEM,
  waitsForAccept: env.TRADETILL_LIVE_ACCEPT === '1',
  recordInto: flags.has('record') ? RECORDS : undefined,
}).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
