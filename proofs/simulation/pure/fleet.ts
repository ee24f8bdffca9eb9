/** The bots of a simulated till: their bars, and which of them tries next. The rules are the gateway's. */
import type { Game } from '../../../contract/games.ts'
import {
  type Bar,
  type BarReason,
  DOUBTS,
  DOUBTS_WITHIN_MS,
  nextBar,
  scopeOf,
  standingOf,
} from '../../../gateway/bots/bar.ts'
import { type BotFacts, chooseBot, DEFAULT_FLEET_LIMITS } from '../../../gateway/bots/fleet.ts'
import type { Bot, Memory } from './memory.ts'

type Wanted = { partner: string; game: Game; items: number; tried: readonly bigint[]; now: Date }

/** The bot for an offer, as the gateway would choose it. */
export function chooseFor(
  { bots }: Memory,
  { partner, game, items, tried, now }: Wanted,
): bigint | undefined {
  const facts = [...bots.values()].flatMap((bot): BotFacts[] => {
    if (tried.includes(bot.botId)) return []
    const open = [...bot.open]
    return [
      {
        ...{ botId: bot.botId, level: 1, state: bot.state, failing: false, late: false },
        reachable: bot.state === 'active' && bot.tokenRefusedAt === null,
        standing: standingOf(barsOf(bot, game), now),
        ...{ itemsHeld: 0, itemsOnTheWay: 0, liveOffers: open.length },
        liveOffersWithPartner: open.filter(({ trade }) => trade.partnerSteamId === partner).length,
      },
    ]
  })
  return chooseBot(facts, DEFAULT_FLEET_LIMITS, items)?.botId
}

const barsOf = ({ bars }: Bot, game: Game): Bar[] =>
  [...bars.values()].filter(({ scope }) => scope === 'all' || scope === game)

type Refused = { reason: BarReason; game: Game; now: Date }

export function bar({ bars }: Bot, refused: Refused): void {
  const scope = scopeOf(refused.reason, refused.game)
  bars.set(scope, nextBar(bars.get(scope), refused))
}

export function trust({ bars, doubts }: Bot, game: Game): void {
  bars.delete('all')
  bars.delete(game)
  doubts.clear()
}

export function doubt(bot: Bot, { partner, game, now }: { partner: string; game: Game; now: Date }): void {
  bot.doubts.set(partner, now.getTime())
  const recent = [...bot.doubts.values()].filter((at) => at > now.getTime() - DOUBTS_WITHIN_MS)
  if (recent.length >= DOUBTS) bar(bot, { reason: 'doubted', game, now })
}
