/** The command that lets a bot sell its own items and explains the risk, and the command that switches accounts off. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { saveAccount } from '../files/accounts.ts'
import { openFolder } from '../files/folder.ts'
import { openKey } from '../files/key.ts'
import { isSwitchedOff, readMarkets } from '../files/markets.ts'
import { readSettings } from '../settings.ts'
import { Refusal, type Terminal } from '../terminal.ts'
import { openVault, type VaultParts } from '../vault.ts'
import { addMarket, showMarkets, switchMarketAt } from './market.ts'

const BOT = '76561198000000001'
const SELLER = '76561198000000002'
const MARKET = 'market.csgo.com'
const KEY = 'k'.repeat(31)
const SECRET = Buffer.alloc(20, 1).toString('base64')

let path: string
let printed: string[]

beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'vault-market-'))
  printed = []
  for (const [steamId, sells] of [
    [BOT, false],
    [SELLER, true],
  ] as const) {
    const secrets = { accountName: 'a', refreshToken: 'r', sharedSecret: SECRET, identitySecret: SECRET }
    saveAccount(openFolder(path), openKey(openFolder(path)), { steamId, sells, secrets })
  }
})
afterEach(() => rmSync(path, { recursive: true }))

const settings = () =>
  readSettings({ TRADETILL_VAULT: path, TRADETILL_STEAM_SANDBOX_URL: 'http://localhost:4301' })

/** A terminal at which a person gives these answers. Without answers: a pipe that contains the key. */
function terminal(answers?: string[]): Terminal {
  const remaining = [...(answers ?? [])]
  return {
    isPerson: answers !== undefined,
    print: (line) => void printed.push(line),
    ask: async () => remaining.shift() ?? '',
    lines: async () => [KEY],
  }
}

const add = (account: string, flags: { sellsItself?: boolean; mayLose?: boolean } = {}, answers?: string[]) =>
  addMarket(settings(), terminal(answers), {
    market: MARKET,
    account,
    mayLose: false,
    sellsItself: false,
    ...flags,
  })

const accesses = () => readMarkets(openFolder(path), openKey(openFolder(path)))

describe('D-34 a bot that collects deposits', () => {
  it('needs the flag `sellsItself` to sell on a market; an account that only sells must not have the flag', async () => {
    await expect(add(BOT)).rejects.toThrow('collects deposits')
    expect(accesses()).toEqual([])
    await expect(add(SELLER, { sellsItself: true })).rejects.toThrow('only sells')
  })

  it('may sell after a warning about the session that the market receives', async () => {
    await add(BOT, { sellsItself: true })
    const text = printed.join(' ')
    for (const part of [
      `this bot must give ${MARKET} a full web session`,
      "cancel the bot's offers",
      'cannot confirm an offer that gives items away',
    ])
      expect(text).toContain(part)
    expect(accesses()).toMatchObject([{ steamId: BOT, sellsItself: true, key: KEY }])
    showMarkets(settings(), terminal())
    expect(printed.at(-1)).toContain('the market has a session token of the bot')
  })

  it('may sell only after the answer yes, if the operator is at a terminal', async () => {
    await expect(add(BOT, { sellsItself: true }, ['no', KEY])).rejects.toThrow(Refusal)
    expect(accesses()).toEqual([])
    await add(BOT, { sellsItself: true }, ['yes', KEY])
    expect(accesses()).toHaveLength(1)
  })

  it('keeps the vault from opening if the file of markets lacks the bot’s permission to sell', async () => {
    await add(BOT, { sellsItself: true })
    const file = join(path, 'markets.json')
    writeFileSync(file, readFileSync(file, 'utf8').replace('"sellsItself": true', '"sellsItself": false'))
    // The vault refuses the file before it uses any of these parts.
    const unusedParts: Omit<VaultParts, 'folder' | 'timer'> = Object.assign({})
    const timer = { nowMs: () => 0, pause: async () => {} }
    expect(() => openVault({ ...unusedParts, timer, folder: path })).toThrow('nobody has allowed it to sell')
  })
})

describe('accounts at a market', () => {
  it('are switched off one by one or together, and keep their order if an account is added again', async () => {
    await add(SELLER)
    await add(BOT, { sellsItself: true })
    await add(SELLER)
    expect(accesses().map(({ steamId }) => steamId)).toEqual([SELLER, BOT])
    const switchedOff = () =>
      [SELLER, BOT].map((steamId) => isSwitchedOff(openFolder(path), { market: MARKET, steamId }))
    switchMarketAt(settings(), terminal(), { market: MARKET, account: BOT, isOff: true })
    expect(switchedOff()).toEqual([false, true])
    switchMarketAt(settings(), terminal(), { market: MARKET, isOff: true })
    expect(switchedOff()).toEqual([true, true])
    switchMarketAt(settings(), terminal(), { market: MARKET, account: SELLER, isOff: false })
    expect(switchedOff()).toEqual([false, true])
    expect(() => switchMarketAt(settings(), terminal(), { market: 'waxpeer.com', isOff: true })).toThrow(
      'not set up',
    )
  })

  it('that are switched off stay off with a new key, and the command says so, with the flags that apply', async () => {
    await add(SELLER, { mayLose: true })
    expect(printed.at(-1)).toContain('on, below cost too')
    await add(BOT, { sellsItself: true })
    switchMarketAt(settings(), terminal(), { market: MARKET, account: SELLER, isOff: true })
    await add(SELLER, {}, [`new-${KEY}`])
    expect(accesses()).toMatchObject([
      { steamId: SELLER, key: `new-${KEY}`, isOff: true, mayLose: false },
      { steamId: BOT, isOff: false },
    ])
    expect(printed.slice(-2)).toEqual([
      `${MARKET} is set up for ${SELLER}: off, never below cost. Restart the vault.`,
      expect.stringContaining('still switched off'),
    ])
  })
})
