import { createLog, type Log } from '../kit/log.ts'
import { offerEvidence } from './evidence.ts'

export type CapturedLog = { log: Log; lines: string[] }

/** A logger that keeps its lines, as a reader of the log would see them. */
export function captureLog(): CapturedLog {
  const lines: string[] = []
  offerEvidence('log.txt', () => lines.join(''))
  return { log: createLog({ level: 'debug', write: (line) => lines.push(line) }), lines }
}
