/** Simulates bots whose token Steam refuses, using the gateway's own rule. */
import { judgeTokenRefusal } from '../../../gateway/bots/token-refusal.ts'
import type { Bot } from './memory.ts'
import type { Process, Scene } from './scene.ts'

/**
 * Returns whether the bot cannot log in: Steam refuses its token, or did so and the gateway would not try again yet. If
 * so, the process gives up the bot's lease.
 */
export function giveUpIfLockedOut({ engine, steam, faults }: Scene, process: Process, bot: Bot): boolean {
  const now = new Date(engine.now())
  if (now.getTime() >= bot.loginAfter) {
    if (!steam.refusesToken(String(bot.botId))) {
      bot.tokenRefusedAt = null
      return false
    }
    const verdict = judgeTokenRefusal(bot.tokenRefusedAt, now)
    if (verdict.kind === 'dead')
      throw new Error('a token was refused for an hour, but no drawn misfortune lasts so long')
    faults.note('token refused for a while')
    bot.tokenRefusedAt ??= now
    bot.loginAfter = verdict.at.getTime()
  }
  process.leases.delete(bot.botId)
  return true
}
