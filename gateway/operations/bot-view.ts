import { GAME_FACTS, GAMES, type Game } from '../../contract/games.ts'
import type { CallCount } from '../bots/call-counts.ts'
import { callsOf } from '../bots/call-store.ts'
import { heldByGame } from '../bots/item-store.ts'
import { findBot, type OpenOffer, openOffersOf, type RefusalCount, refusalsOf } from '../bots/view-store.ts'
import { HOUR_MS } from '../kit/duration.ts'
import { type ListedBot, listBots } from './bots.ts'
import { type Answer, done, type FindDeps, refused } from './operation.ts'

/**
 * `held`: items that the bot has, including `protected` ones, which can still be taken back. `onTheWay`: items of the
 * view's `offers`. `most`: the game's item limit. `room`: how many more items fit, even if the bot is paused or offline;
 * 0 while a bar of the game or of the whole bot lasts, unless its reason is `doubted`.
 */
export type GameRoom = {
  game: Game
  held: number
  protected: number
  onTheWay: number
  most: number
  room: number
}

export type BotView = ListedBot & {
  profileUrl: string
  offersFailingSince: Date | null
  inventoriesFailingSince: Date | null
  games: GameRoom[]
  offers: OpenOffer[]
  /** The most offers that a bot may have open. */
  mostOffers: number
  /** Trades of the last hour that Steam refused or the till did not send. */
  refusals: RefusalCount[]
  /** Calls to Steam in the last hour. */
  calls: CallCount
}

export async function showBot(deps: FindDeps, idOrSteamId: string): Promise<Answer<BotView>> {
  const { db, clock, config } = deps
  const bot = await findBot(db, idOrSteamId)
  const answer = await listBots(deps)
  const listed =
    answer.kind === 'refused' ? undefined : answer.data.bots.find(({ botId }) => botId === bot?.id)
  if (bot === undefined || listed === undefined) {
    return refused('not_found', 'There is no such bot: see bot list.')
  }
  const now = clock.now()
  const offers = await openOffersOf(db, bot.id)
  const { liveOffers: mostOffers, itemsHeld } = config.fleetLimits
  const held = new Map((await heldByGame(db, bot.id)).map((count) => [count.appId, count]))
  const games = GAMES.map((game): GameRoom => {
    const { held: items = 0, protected: protectedItems = 0 } = held.get(GAME_FACTS[game].appId) ?? {}
    // A doubted bot is still chosen if no other bot can take the trade.
    const isBarred = listed.bars.some(({ scope, reason }) => {
      return reason !== 'doubted' && (scope === 'all' || scope === game)
    })
    const onTheWay = offers.reduce((sum, offer) => sum + (offer.game === game ? offer.items : 0), 0)
    const most = itemsHeld[game]
    const room = isBarred ? 0 : Math.max(0, most - items - onTheWay)
    return { game, held: items, protected: protectedItems, onTheWay, most, room }
  })
  return done({
    ...listed,
    profileUrl: bot.profile_url,
    offersFailingSince: bot.offers_failing_since,
    inventoriesFailingSince: bot.inventories_failing_since,
    games,
    offers,
    mostOffers,
    refusals: await refusalsOf(db, bot.id, new Date(now.getTime() - HOUR_MS)),
    calls: await callsOf(db, bot.id),
  })
}
