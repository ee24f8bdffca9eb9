/** The operator's alerts: whether somebody receives them. */
import { sendTestAlert } from '../alerts/service.ts'
import type { Config } from '../config.ts'
import type { TillClock } from '../kit/clock.ts'
import { systemIds } from '../kit/ids.ts'
import type { Sender } from '../webhooks/sender.ts'
import { type Finding, notChecked } from './finding.ts'
import { type TestAnswer, testFinding } from './readiness.ts'

/** Sends one test to the receiver of alerts. */
export async function testAlert(
  { url, secret }: { url: string; secret: string },
  { send, clock, console: consoleSettings }: { send: Sender; clock: TillClock } & Pick<Config, 'console'>,
): Promise<TestAnswer> {
  const deps = { clock, uuid: systemIds.uuid, consoleUrl: consoleSettings?.url.origin ?? null, send }
  const result = await sendTestAlert(deps, { url, secret })
  return result.kind === 'failed' ? result : { kind: 'answered', status: result.status }
}

/** `answer`: undefined if no test was sent. */
export function alertFindings(url: string | undefined, answer: TestAnswer | undefined): Finding[] {
  if (url === undefined)
    return [
      notChecked(
        'alerts',
        'no TRADETILL_ALERT_URL: the till sends no alerts; Prometheus can, if it is set up',
      ),
    ]
  // The path may be a secret: everybody who knows a topic of ntfy can read it and write to it.
  const to = new URL(url).origin
  const advice = {
    failed: 'start the receiver, or change TRADETILL_ALERT_URL',
    refused: 'look at the log of the receiver, and check TRADETILL_ALERT_URL and TRADETILL_ALERT_SECRET',
  }
  return [testFinding({ check: 'alerts', to }, answer, advice)]
}
