/** Both sandboxes, and clients of the simulated markets, on a clock that the test advances. */
import { type RunningMarket, startMarket } from '../../market-sandbox/start.ts'
import type { Temper } from '../../market-sandbox/world/world.ts'
import { type RunningSteam, startSteam } from '../../steam-sandbox/start.ts'
import { accessTokenOf } from '../../steam-sandbox/tokens.ts'
import { answerConfirmation, endOffer, sendOffer } from '../../steam-sandbox/world/offers.ts'
import { type Account, findAccount, withAccount } from '../../steam-sandbox/world/world.ts'
import { sandboxConnection } from '../markets/clients/connection.ts'
import { createFamily } from '../markets/clients/family.ts'
import { createWaxpeer } from '../markets/clients/waxpeer.ts'
import type { DueGift, Market, MarketAnswer } from '../markets/market.ts'
import { scaleOf } from '../markets/scale.ts'

export const START_MS = 1_800_000_000_000
export const DOTA = 570
export const CS = 730
/** The first of the items' asset ids, which are too large for a JavaScript number. */
const FIRST_LONG_ID = 9_007_199_254_740_993_000n

export type MarketBench = Awaited<ReturnType<typeof openMarketBench>>

/** The value of an answer. Throws if the call failed. */
export async function unwrap<T>(call: Promise<MarketAnswer<T>>): Promise<T> {
  const answer = await call
  if (answer.kind !== 'answered') throw new Error(JSON.stringify(answer))
  return answer.value
}

/** One Steam for all tests of a file; `begin` gives the seller fresh items, and opens a new market. */
export async function openMarketBench() {
  let machineMs = START_MS
  const clock = () => machineMs
  const steam = await startSteam({ port: 0, seed: 'markets', clock, quotas: false })
  const seller = firstBot(steam)
  let market: RunningMarket | undefined
  const running = (): RunningMarket => {
    if (market === undefined) throw new Error('no test has begun')
    return market
  }
  const nowS = () => Math.floor(machineMs / 1000) + steam.world().aheadS
  return {
    steam,
    seller,
    machineMs: clock,
    now: () => new Date(nowS() * 1000),
    get market() {
      return running()
    },
    /** `ids`: the asset ids of the first items, which are of Dota 2. */
    async begin(ids: readonly string[] = []) {
      giveItems(steam, seller, ids)
      market = await startMarket({ port: 0, steamUrl: steam.url, clock, everyMs: 0 })
    },
    end: () => running().close(),
    close: () => steam.close(),
    /** Advances only Steam's time, and lets the market look at Steam. */
    advanceSteam(seconds: number) {
      steam.advance(seconds)
      return running().look()
    },
    /** Advances the machine's time, and Steam's with it. */
    advanceMachine(ms: number): void {
      machineMs += ms
    },
    accessToken: (account: Account = seller) => accessTokenOf(account, 'web:community', nowS()),
    assetsOf: (appId: number) =>
      (findAccount(steam.world(), seller.steamId)?.assets ?? [])
        .filter((asset) => asset.appId === appId)
        .map(({ assetId }) => assetId),
    clientWith(key: string, { currency = 'USD', deadlineMs = 5_000, create = createFamily } = {}): Market {
      const scale = scaleOf(currency)
      if (!scale) throw new Error(`${currency} has no scale`)
      const pause = async (ms: number) => {
        machineMs += ms
      }
      return create({
        key,
        steamId: seller.steamId,
        scale,
        connection: sandboxConnection('sandbox', running().url, deadlineMs),
        time: { now: clock, pause },
        now: () => new Date(nowS() * 1000),
      })
    },
    waxpeerWith(key: string): Market {
      return this.clientWith(key, { create: createWaxpeer })
    },
    /** Sends the seller's offer for a deal, and confirms it on the phone unless `isConfirmed` is false. */
    send({ partnerSteamId, token, message, assets }: DueGift, { isConfirmed = true } = {}): string {
      const intent = { sender: seller.steamId, partner: partnerSteamId, token, message, items: [] }
      const sent = steam.change((world, now) => sendOffer(world, { ...intent, give: [...assets] }, now))
      if (sent.kind !== 'sent') throw new Error(JSON.stringify(sent))
      const { offerId } = sent
      if (isConfirmed) steam.change((world, now) => answerConfirmation(world, { offerId, allow: true }, now))
      return offerId
    },
    cancel: (offerId: string) =>
      steam.change((world, now) => endOffer(world, { offerId, by: seller.steamId, how: 'cancel' }, now)),
  }
}

function firstBot(steam: RunningSteam): Account {
  const bot = steam.world().accounts.find(({ kind }) => kind === 'bot')
  if (!bot) throw new Error('the seed has no bot')
  return bot
}

/**
 * Replaces the seller's items with three of Dota 2 and two of Counter-Strike 2, and ends any restriction of the
 * account. Items without an id in `ids` get ids that are too large for a JavaScript number.
 */
function giveItems(steam: RunningSteam, { steamId }: Account, ids: readonly string[]): void {
  const shopper = steam.world().accounts.find(({ name }) => name === 'nova_hound')
  const firstItems = (appId: number, count: number) =>
    (shopper?.assets ?? []).filter((asset) => asset.appId === appId).slice(0, count)
  const assets = [...firstItems(DOTA, 3), ...firstItems(CS, 2)].map((asset, index) => ({
    ...asset,
    assetId: ids[index] ?? String(FIRST_LONG_ID + BigInt(index)),
  }))
  steam.change((world) => ({
    world: withAccount(world, steamId, ({ restrictedUntilS: _, ...account }) => ({ ...account, assets })),
    answer: undefined,
  }))
}

/** Puts the seller online, and makes the market read the inventory of a game. */
export async function prepareToSell(bench: MarketBench, client: Market, appId: number): Promise<void> {
  await unwrap(client.keepOnline(bench.accessToken()))
  await unwrap(client.refresh(appId))
  await bench.advanceSteam(15)
}

type Sale = { appId: number; temper: Temper; count?: number }

/** Lists items at 1.00 each, in the client's currency. A buyer of this temper buys them. */
export async function sell(bench: MarketBench, client: Market, { appId, temper, count = 1 }: Sale) {
  await prepareToSell(bench, client, appId)
  const lines = bench
    .assetsOf(appId)
    .slice(0, count)
    .map((assetId) => ({ assetId, priceMinor: 100n }))
  const listed = await unwrap(client.list(appId, lines))
  const itemIds = listed.map((line) => ('itemId' in line ? line.itemId : line.kind))
  const bought = await bench.market.buy(itemIds.map(Number), temper)
  const [due] = (await unwrap(client.round(appId))).due
  if (bought.kind !== 'bought' || !due) throw new Error(`${JSON.stringify(bought)}: nothing is due`)
  return { due, itemIds }
}
