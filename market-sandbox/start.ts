import { createServer } from 'node:http'
import { createFaults, type FaultName } from './faults.ts'
import type { Currency } from './games.ts'
import { createKeeper } from './keeper.ts'
import { createLimits } from './limits.ts'
import { lookAtSteam } from './look.ts'
import { createPrices } from './prices.ts'
import { takeBack } from './routes/control.ts'
import { lookAtAll, type Market, type MarketName, type Markets } from './sandbox.ts'
import { serve } from './serve.ts'
import { createSteamSide, type SteamSide } from './steam.ts'
import { createSockets } from './waxpeer-sockets.ts'
import { buyItems } from './world/deals.ts'
import { banAccount, openAccount } from './world/sellers.ts'
import { type Buyer, emptyWorld, type Temper, type World } from './world/world.ts'

type Options = {
  /** 0 chooses a free port. */
  port: number
  /** The Steam sandbox in which sellers and buyers trade. */
  steamUrl: string
  /** The machine's clock, in milliseconds since 1970. */
  clock?: () => number
  pause?: (ms: number) => Promise<void>
  /** The file that keeps the world between runs; without it nothing is kept. */
  dataFile?: string
  /** The file with the prices of other sellers. */
  pricesFile?: string
  /** Milliseconds between automatic reads of Steam; 0 means none. */
  everyMs?: number
}

export type RunningMarket = Awaited<ReturnType<typeof startMarket>>

/** Starts both markets on 127.0.0.1. Rejects if the port is taken or a file cannot be read. */
export async function startMarket({ port, everyMs = 1000, ...options }: Options) {
  const { markets, sockets, save } = createMarkets(options)
  const { family, waxpeer } = markets
  const server = createServer((message, response) => {
    serve(message, response, markets).catch(() => response.destroy())
  })
  sockets.attach(server, waxpeer)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = server.address()
  const listeningPort = typeof address === 'object' && address ? address.port : port
  for (const market of [family, waxpeer]) market.url = `http://localhost:${listeningPort}`
  const look = () => lookAtAll(markets)
  // Learns Steam's time before the caller uses the markets.
  await look()
  const timer = everyMs > 0 ? setInterval(() => void look(), everyMs) : undefined
  return {
    url: family.url,
    log: family.log,
    look,
    ...controlsOf(markets, family),
    waxpeer: controlsOf(markets, waxpeer),
    begin: (name: FaultName, times?: number) => family.faults.begin(name, times),
    end: family.faults.end,
    reset() {
      family.reset()
      waxpeer.reset()
    },
    async close() {
      clearInterval(timer)
      sockets.close()
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
      save()
    },
  }
}

/** The functions that tests use on one market. */
const controlsOf = (markets: Markets, market: Market) => ({
  world: market.world,
  /** Opens an account. Returns its key. */
  open: (steamId: string, currency: Currency = 'USD'): string =>
    market.change((world) => openAccount(world, { steamId, currency })).key,
  /** Bans an account from selling for this many seconds, as if sales had not been handed over. */
  ban: (steamId: string, seconds: number) =>
    market.change((world) => banAccount(world, steamId, market.nowS() + seconds)),
  buy: market.buy,
  takeBack: (hash: string) => takeBack(markets, market, hash),
})

/** The numbers of listings and deals begin after this. */
const LAST_ID_OF_EMPTY_WORLD = 1_000

type Settings = Omit<Options, 'port' | 'everyMs'>

const SITES: Readonly<Record<MarketName, string>> = { family: 'market.csgo.com', waxpeer: 'waxpeer.com' }

function createMarkets(settings: Settings) {
  const { steamUrl, clock = Date.now, pause = pauseInRealTime, dataFile, pricesFile } = settings
  const shared = {
    url: '',
    steamUrl,
    machineMs: clock,
    pause,
    steam: createSteamSide(steamUrl),
    faults: createFaults(),
    limits: createLimits(),
    prices: createPrices(pricesFile),
    log: [],
  }
  const sockets = createSockets()
  const family = createMarket(shared, { name: 'family', dataFile })
  const waxpeer = createMarket(shared, {
    name: 'waxpeer',
    dataFile: dataFile && `${dataFile}.waxpeer`,
    onChange: (before, after) => sockets.sendChanges(waxpeer, before, after),
  })
  const save = () => [family, waxpeer].forEach((market) => void market.save())
  return { markets: { family, waxpeer }, sockets, save }
}

type Shared = Pick<
  Market,
  'url' | 'steamUrl' | 'machineMs' | 'pause' | 'steam' | 'faults' | 'limits' | 'prices' | 'log'
>
type OwnParts = {
  name: MarketName
  dataFile: string | undefined
  onChange?: (before: World, after: World) => void
}

function createMarket(shared: Shared, { name, dataFile, onChange }: OwnParts): Market & { save(): void } {
  const keeper = createKeeper(dataFile, () => emptyWorld(LAST_ID_OF_EMPTY_WORLD))
  const nowS = () => Math.floor(shared.machineMs() / 1000) + keeper.world().aheadS
  const market: Market & { save(): void } = {
    ...shared,
    name,
    site: SITES[name],
    nowS,
    world: keeper.world,
    itemCalls: new Map(),
    save: keeper.save,
    change(step) {
      const before = keeper.world()
      const { world, answer } = step(before, nowS())
      keeper.keep(world)
      if (world !== before) onChange?.(before, world)
      return answer
    },
    reset() {
      shared.faults.clear()
      shared.limits.clear()
      market.itemCalls.clear()
      keeper.keep(emptyWorld(LAST_ID_OF_EMPTY_WORLD))
    },
    look: oneAtATime(() => lookAtSteam(market)),
    async buy(itemIds, temper) {
      const buyer = await buyerOf(market, temper)
      return market.change((world, now) => buyItems(world, { itemIds, buyer, site: market.site }, now))
    },
  }
  return market
}

/**
 * Runs calls one after another. Calls that wait for a running one share the next run, so they do not pile up while the
 * Steam sandbox is slow. Ignores a run that fails, such as while the Steam sandbox is down.
 */
function oneAtATime(run: () => Promise<void>): () => Promise<void> {
  let last = Promise.resolve()
  let waiting: Promise<void> | undefined
  const begin = (): Promise<void> => {
    waiting = undefined
    return run()
  }
  return () => {
    waiting ??= last.then(begin).catch(() => {})
    last = waiting
    return waiting
  }
}

/** Returns the player of the Steam sandbox who buys with this temper, and invites that player when first needed. */
async function buyerOf(market: Market, temper: Temper): Promise<Buyer> {
  const known = market.world().buyers.find((buyer) => buyer.temper === temper)
  if (known) return known
  const buyer: Buyer = { ...(await inviteBuyer(market.steam)), temper }
  market.change((world) => ({ world: { ...world, buyers: [...world.buyers, buyer] }, answer: undefined }))
  return buyer
}

/** Adds a player with the games, items and behaviour of an ordinary shopper. */
function inviteBuyer(steam: SteamSide) {
  return steam.invite('quiet_lynx')
}

function pauseInRealTime(ms: number): Promise<void> {
  return new Promise((resolve) => {
    // An answer that is still delayed must not keep the process alive.
    setTimeout(resolve, ms).unref()
  })
}
