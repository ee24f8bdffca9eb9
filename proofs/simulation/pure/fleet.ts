/**
 * The bots of a simulated till: the bars that keep them from new offers, and the choice of a bot. The rules are the
 * gateway's.
 */
import type { Game } from '../../../contract/games.ts'
import {
  type Bar,
  type BarReason,
  barStateOf,
  DOUBTS_BEFORE_BAR,
  DOUBTS_WITHIN_MS,
  nextBar,
  scopeOf,
} from '../../../gateway/bots/bar.ts'
import {
  type BotFacts,
  chooseBot,
  DEFAULT_FLEET_LIMITS,
  isBetterElsewhere,
} from '../../../gateway/bots/fleet.ts'
import type { LoadedTrade } from '../../../gateway/trades/trade-store.ts'
import type { Bot, TillMemory } from './memory.ts'

type Occasion = { partner: string; game: Game; now: Date }
type BotQuery = Occasion & { items: number; tried: readonly bigint[] }

const factsOf = ({ bots }: TillMemory, { partner, game, now }: Occasion): BotFacts[] =>
  [...bots.values()].map((bot) => {
    const open = [...bot.open]
    return {
      botId: bot.botId,
      level: 1,
      state: bot.state,
      failing: false,
      late: false,
      reachable: bot.state === 'active' && bot.tokenRefusedAt === null,
      barState: barStateOf(barsOf(bot, game), now),
      itemsHeld: 0,
      itemsOnTheWay: 0,
      liveOffers: open.length,
      waiting: open.filter(({ trade }) => trade.state === 'intended').length,
      liveOffersWithPartner: open.filter(({ trade }) => trade.partnerSteamId === partner).length,
    }
  })

export function chooseFor(memory: TillMemory, { items, tried, ...offer }: BotQuery): bigint | undefined {
  const untried = factsOf(memory, offer).filter(({ botId }) => !tried.includes(botId))
  return chooseBot(untried, DEFAULT_FLEET_LIMITS, { game: offer.game, items })?.botId
}

/** Whether the gateway would move a waiting request to another bot. */
export function isSoonerElsewhere(memory: TillMemory, { trade, facts }: LoadedTrade): boolean {
  const { botId, game, attempt } = facts
  const bots = factsOf(memory, { partner: trade.partnerSteamId, game, now: new Date(memory.engine.now()) })
  const waiting = { botId, tried: attempt.tried, game, items: trade.items.length }
  return isBetterElsewhere(bots, DEFAULT_FLEET_LIMITS, waiting)
}

const barsOf = ({ bars }: Bot, game: Game): Bar[] =>
  [...bars.values()].filter(({ scope }) => scope === 'all' || scope === game)

type BarCause = { reason: BarReason; game: Game; now: Date }

export function bar({ bars }: Bot, cause: BarCause): void {
  const scope = scopeOf(cause.reason, cause.game)
  bars.set(scope, nextBar(bars.get(scope), cause))
}

export function trust({ bars, doubts }: Bot, game: Game): void {
  bars.delete('all')
  bars.delete(game)
  doubts.clear()
}

/** Records a refusal that the bot may have caused. Enough of them, with different partners, bar the bot. */
export function doubt(bot: Bot, { partner, game, now }: { partner: string; game: Game; now: Date }): void {
  bot.doubts.set(partner, now.getTime())
  const recent = [...bot.doubts.values()].filter((at) => at > now.getTime() - DOUBTS_WITHIN_MS)
  if (recent.length >= DOUBTS_BEFORE_BAR) bar(bot, { reason: 'doubted', game, now })
}
