/** `clock …`: the till's clock, which can be advanced in sandbox mode. */
import { type AdvanceAnswer, advanceClock } from '../clock/service.ts'
import { durationText } from '../kit/duration.ts'
import type { Context } from './commands.ts'
import { Refusal } from './terminal.ts'

const WHY: Record<Extract<AdvanceAnswer, { kind: 'refused' }>['reason'], string> = {
  live_mode: 'The clock cannot be advanced in live mode: real money waits for real time.',
  not_a_duration: 'Say how far: a whole number and s, m, h or d, such as 90s, 15m, 2h or 8d.',
  too_far: 'The clock can be at most 400 days ahead in all. Remove the data folder to begin again at today.',
  no_sandbox:
    'The Steam sandbox does not answer, so nothing was advanced. Start it, or set TRADETILL_STEAM_SANDBOX_URL.',
}

/** `clock advance DURATION`. */
export async function advance({ config, db, terminal }: Context, [duration = '']: string[]): Promise<void> {
  const answer = await advanceClock({ db, sandboxUrl: config.steamSandboxUrl }, duration)
  if (answer.kind === 'refused') throw new Refusal(WHY[answer.reason])
  terminal.print(
    `The till and its Steam sandbox are ${durationText(answer.aheadS)} ahead. Gateways follow within seconds.`,
  )
}
