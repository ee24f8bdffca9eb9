/** Bots of a simulated till whose token Steam refuses. The rule is the gateway's. */
import { judgeTokenRefusal } from '../../../gateway/bots/token-refusal.ts'
import type { Bot } from './memory.ts'
import type { Process, Scene } from './scene.ts'

/** The process gives up its lease of such a bot, and nobody tries before the time that the gateway would wait. */
export function isLockedOut({ engine, steam, faults }: Scene, process: Process, bot: Bot): boolean {
  const now = new Date(engine.now())
  if (now.getTime() >= bot.loginAfter) {
    if (!steam.refusesToken(String(bot.botId))) {
      bot.tokenRefusedAt = null
      return false
    }
    const verdict = judgeTokenRefusal(bot.tokenRefusedAt, now)
    if (verdict.kind === 'dead') throw new Error('no token is refused for an hour')
    faults.saw('token refused for a while')
    bot.tokenRefusedAt ??= now
    bot.loginAfter = verdict.at.getTime()
  }
  process.leases.delete(bot.botId)
  return true
}
