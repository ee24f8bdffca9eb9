/** `npm run live`: checks the Steam port against the real Steam. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { GAMES } from '../../contract/games.ts'
import { steamIdOfAccount } from '../../contract/steam-id.ts'
import { systemClock } from '../kit/clock.ts'
import { makeFolder } from '../kit/make-folder.ts'
import { obtainRefreshToken } from '../operations/obtain-token.ts'
import { checkPort, type PortChecks } from '../steam/port-checks.ts'
import type { RawReply } from '../steam/record.ts'
import { type Run, toRecord } from '../steam/record-file.ts'
import { accountOfToken } from '../steam/web/login.ts'
import { createWebSteam, type WebSteamOptions } from '../steam/web/web-steam.ts'
import { byPassword } from './password-login.ts'
import { qrCode, scanThis } from './qr-code.ts'
import { createTerminal, type Terminal } from './terminal.ts'

const LINK = /^https:\/\/steamcommunity\.com\/tradeoffer\/new\/\?partner=(\d{1,10})&token=([\w-]{8})$/

export type LiveSettings = {
  /** Refresh token; if empty, this run logs in. */
  refreshToken: string
  /** Whether a login of this run asks for name, password and code. Otherwise the bot's Steam app approves it. */
  usesPassword: boolean
  tradeLink: string
  game: string
  /** Asset id of the partner's item that the test offer asks for; undefined sends no offer. */
  item: string | undefined
  /** Whether to wait until the partner accepts the offer. Otherwise the run cancels it. */
  waitsForAccept: boolean
  /** Folder for a record of Steam's answers; undefined writes none. */
  recordInto: string | undefined
}

/** The Steam to test, and the operator's terminal. */
export type LiveWorld = {
  /** URL of the sandbox; undefined means the real Steam. */
  sandboxUrl: string | undefined
  options: WebSteamOptions
  say(line: string): void
  terminal: Pick<Terminal, 'openQuestions'>
}

const realWorld = (): LiveWorld => ({
  sandboxUrl: undefined,
  options: {},
  say: (line) => console.log(line),
  terminal: createTerminal(process),
})

/**
 * Runs the port's checks against the real Steam and prints those that pass. Rejects with the error of the first that
 * fails.
 */
export async function checkLive(settings: LiveSettings, world = realWorld()): Promise<void> {
  const { tradeLink, game: gameName, item, waitsForAccept, recordInto } = settings
  const [, account, token] = LINK.exec(tradeLink) ?? []
  const game = GAMES.find((each) => each === gameName)
  if (account === undefined || token === undefined || game === undefined) {
    throw new Error(
      'Set TRADETILL_LIVE_TRADE_LINK (of another account) and, for a game other than cs, TRADETILL_LIVE_GAME. See docs/operating.md.',
    )
  }
  const refreshToken = settings.refreshToken === '' ? await logIn(world, settings) : settings.refreshToken
  const partner = { steamId: steamIdOfAccount(account), token }
  const replies: RawReply[] = []
  // The message of the test offer is computed from this time. The record keeps it, so a replay sends the same message.
  const now = systemClock.now()
  let passed = 0
  const check = checkPort({
    steam: createWebSteam({ ...world.options, onReply: (reply) => void replies.push(reply) }),
    refreshToken,
    partner,
    game,
    clock: { now: () => now },
    pause: delay,
    onPassed(checkName) {
      passed += 1
      world.say(`ok  ${checkName}`)
    },
    ...(item === undefined ? {} : { smoke: smokeOf(item, waitsForAccept) }),
  })
  const isComplete = await check.then(
    () => true,
    () => false,
  )
  if (recordInto !== undefined) {
    const bot = accountOfToken(refreshToken) ?? ''
    const run = { at: now, game, bot, partner, item, isAccepted: waitsForAccept, passed, isComplete, replies }
    world.say(`A record of what Steam answered is in ${await writeRecord(recordInto, run)}`)
  }
  await check
  world.say('All checks passed on the real Steam.')
}

/** Writes a new file and resolves to its path. Never overwrites a file. */
async function writeRecord(folder: string, run: Run): Promise<string> {
  const file = join(folder, `${run.game}-${run.at.toISOString().replace(/[-:]|\.\d+/g, '')}.json`)
  makeFolder(folder)
  await writeFile(file, `${JSON.stringify(toRecord(run), null, 1)}\n`, { flag: 'wx' })
  return file
}

/** Logs in for this run only. The token is neither shown nor stored. */
async function logIn(
  { sandboxUrl, say, terminal }: LiveWorld,
  { usesPassword }: LiveSettings,
): Promise<string> {
  const place = { mode: sandboxUrl === undefined ? 'live' : 'sandbox', steamSandboxUrl: sandboxUrl } as const
  const show = (address: string, isReplacement: boolean) =>
    say(`${scanThis(isReplacement)} with the bot's Steam app and approve:\n${qrCode(address)}\n  ${address}`)
  const answer = usesPassword
    ? await byPassword(terminal, (way) => obtainRefreshToken(place, way))
    : await obtainRefreshToken(place, { kind: 'phone', show })
  if (answer.kind === 'refused') throw new Error(answer.message)
  return answer.refreshToken
}

function smokeOf(wantedAssetId: string, waitsForAccept: boolean): NonNullable<PortChecks['smoke']> {
  return {
    choose: (items) => items.find((item) => item.assetId === wantedAssetId),
    ...(waitsForAccept ? { accept: askToAccept } : {}),
  }
}

/** Asks the person to accept the offer, and resolves when they press Enter. */
async function askToAccept({ offerId }: { offerId: string }): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  await terminal.question(
    `Accept https://steamcommunity.com/tradeoffer/${offerId}/ with the other account, then press Enter. `,
  )
  terminal.close()
}
