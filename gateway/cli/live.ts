import { createInterface } from 'node:readline/promises'
import { GAMES } from '../../contract/games.ts'
import { systemClock } from '../kit/clock.ts'
import { checkPort, type PortChecks } from '../steam/port-checks.ts'
import { steamIdOfAccount } from '../steam/steam.ts'
import { createWebSteam } from '../steam/web/web-steam.ts'

const LINK = /^https:\/\/steamcommunity\.com\/tradeoffer\/new\/\?partner=(\d{1,10})&token=([\w-]{8})$/

export type LiveSettings = {
  refreshToken: string
  tradeLink: string
  game: string
  /** Asset id of the partner's that an offer asks for; without it nothing is sent. */
  item: string | undefined
  /** Waits for the partner to accept instead of cancelling. */
  waits: boolean
}

/** Runs the port's checks against the real Steam and tells what is true of it; rejects with the first that is not. */
export async function checkLive({ refreshToken, tradeLink, game: named, item, waits }: LiveSettings) {
  const [, account, token] = LINK.exec(tradeLink) ?? []
  const game = GAMES.find((each) => each === named)
  if (refreshToken === '' || account === undefined || token === undefined || game === undefined) {
    throw new Error(
      'Set TRADETILL_LIVE_REFRESH_TOKEN (of a bot), TRADETILL_LIVE_TRADE_LINK (of another account) and, if it is not cs, TRADETILL_LIVE_GAME. See docs/operating.md.',
    )
  }
  await checkPort({
    steam: createWebSteam(),
    refreshToken,
    partner: { steamId: steamIdOfAccount(account), token },
    game,
    clock: systemClock,
    passed: (what) => console.log(`ok  ${what}`),
    ...(item === undefined ? {} : { smoke: smokeOf(item, waits) }),
  })
  console.log('All of it is true of the real Steam.')
}

function smokeOf(wanted: string, waits: boolean): NonNullable<PortChecks['smoke']> {
  return {
    choose: (items) => items.find((item) => item.assetId === wanted),
    ...(waits ? { accepted } : {}),
  }
}

async function accepted({ offerId }: { offerId: string }): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  await terminal.question(
    `Accept https://steamcommunity.com/tradeoffer/${offerId}/ with the other account, then press Enter. `,
  )
  terminal.close()
}
