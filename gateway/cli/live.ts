import { createInterface } from 'node:readline/promises'
import { GAMES } from '../../contract/games.ts'
import { systemClock } from '../kit/clock.ts'
import { obtainRefreshToken } from '../operations/token.ts'
import { checkPort, type PortChecks } from '../steam/port-checks.ts'
import { type Steam, steamIdOfAccount } from '../steam/steam.ts'
import { createWebSteam } from '../steam/web/web-steam.ts'
import { qrCode } from './qr-code.ts'

const LINK = /^https:\/\/steamcommunity\.com\/tradeoffer\/new\/\?partner=(\d{1,10})&token=([\w-]{8})$/

export type LiveSettings = {
  /** Empty: the Steam app of the bot approves a login for this run. */
  refreshToken: string
  tradeLink: string
  game: string
  /** Asset id of the partner's that an offer asks for; without it nothing is sent. */
  item: string | undefined
  /** Waits for the partner to accept instead of cancelling. */
  waits: boolean
}

/** The Steam that is asked, and the terminal of whoever asks. */
export type LiveWorld = {
  /** The sandbox's address; undefined is the real Steam. */
  sandboxUrl: string | undefined
  steam: Steam
  say(line: string): void
}

const realWorld = (): LiveWorld => ({
  sandboxUrl: undefined,
  steam: createWebSteam(),
  say: (line) => console.log(line),
})

/** Runs the port's checks against the real Steam and tells what is true of it; rejects with the first that is not. */
export async function checkLive(settings: LiveSettings, world = realWorld()): Promise<void> {
  const { tradeLink, game: named, item, waits } = settings
  const [, account, token] = LINK.exec(tradeLink) ?? []
  const game = GAMES.find((each) => each === named)
  if (account === undefined || token === undefined || game === undefined) {
    throw new Error(
      'Set TRADETILL_LIVE_TRADE_LINK (of another account) and, if it is not cs, TRADETILL_LIVE_GAME. See docs/operating.md.',
    )
  }
  await checkPort({
    steam: world.steam,
    refreshToken: settings.refreshToken === '' ? await logIn(world) : settings.refreshToken,
    partner: { steamId: steamIdOfAccount(account), token },
    game,
    clock: systemClock,
    passed: (what) => world.say(`ok  ${what}`),
    ...(item === undefined ? {} : { smoke: smokeOf(item, waits) }),
  })
  world.say('All of it is true of the real Steam.')
}

/** For this run: the token is shown and kept nowhere. */
async function logIn({ sandboxUrl, say }: LiveWorld): Promise<string> {
  const place = { mode: sandboxUrl === undefined ? 'live' : 'sandbox', steamSandboxUrl: sandboxUrl } as const
  const show = (address: string) =>
    say(`Scan this with the Steam app of the bot and approve:\n${qrCode(address)}\n  ${address}`)
  const answer = await obtainRefreshToken(place, { kind: 'phone', show })
  if (answer.kind === 'refused') throw new Error(answer.message)
  return answer.refreshToken
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
