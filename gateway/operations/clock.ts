/** Advances the sandbox's clock. */
import { type AdvanceAnswer, advanceClock } from '../clock/service.ts'
import { durationText } from '../kit/duration.ts'
import { act } from './act.ts'
import { type ActDeps, type Answer, done, type RefusalKind, refused } from './operation.ts'

/** How far the till and its Steam sandbox are ahead of the machine's clock. */
export type ClockView = { aheadSeconds: number }

type Reason = Extract<AdvanceAnswer, { kind: 'refused' }>['reason']

const REFUSALS: Record<Reason, [RefusalKind, string]> = {
  live_mode: ['conflict', 'The clock cannot be advanced in live mode: real money waits for real time.'],
  not_a_duration: ['usage', 'Give the time as a whole number and s, m, h or d, such as 90s, 15m, 2h or 8d.'],
  too_far: [
    'conflict',
    'The clock can be at most 400 days ahead in all. Remove the data folder to start again from today.',
  ],
  no_sandbox: [
    'unavailable',
    'The Steam sandbox does not answer, so nothing was advanced. Start it, or set TRADETILL_STEAM_SANDBOX_URL.',
  ],
}

/** Advances the clocks of the till and its Steam sandbox together. Sandbox mode only. */
export function advance(deps: ActDeps, duration: string): Promise<Answer<ClockView>> {
  const namedAct = {
    name: 'clock advance',
    argumentsOf: ({ aheadSeconds }: ClockView) => ({ duration, aheadSeconds }),
  }
  return act(deps, namedAct, async (tx) => {
    const answer = await advanceClock({ db: tx, sandboxUrl: deps.config.steamSandboxUrl }, duration)
    if (answer.kind === 'refused') return refused(...REFUSALS[answer.reason])
    const ahead = durationText(answer.aheadS)
    return done(
      { aheadSeconds: answer.aheadS },
      `The till and its Steam sandbox are ${ahead} ahead. Gateways follow within seconds.`,
    )
  })
}
