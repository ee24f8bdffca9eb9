import { levelClass } from '../i18n/format.ts'
import { useModalTexts } from './texts.ts'

/**
 * Steam shows a level below 100 in a circle. From 100 on, every hundred has its own shape. The last shape here also
 * stands for all higher levels, which few accounts have.
 */
const SHAPES = [
  // Hexagon, shield, book, chevron, two circles.
  'M18 2l14 8v16l-14 8-14-8V10z',
  'M18 2l14 5v11c0 8-6 13-14 16C10 31 4 26 4 18V7z',
  'M3 6c6-2 11-1 15 2 4-3 9-4 15-2v24c-6-2-11-1-15 2-4-3-9-4-15-2z',
  'M3 3l15 6 15-6v22l-15 8-15-8z',
  'M18 2a16 16 0 1 1 0 32a16 16 0 1 1 0-32zM18 5.5a12.5 12.5 0 1 1 0 25a12.5 12.5 0 1 1 0-25z',
  // Angle, flag, wings, arrow, crystal, octagon.
  'M2 11L18 2l16 9-5 19-11 4-11-4z',
  'M4 2h28v32l-14-7-14 7z',
  'M18 7l5 3L35 3l-4 22-13 9-13-9L1 3l12 7z',
  'M18 1l16 13h-5v20H7V14H2z',
  'M11 2h14l9 12-16 21L2 14z',
  'M11 2h14l9 9v14l-9 9H11l-9-9V11z',
]

/** A level as Steam shows it: the shape stands for the hundred, the colour for the tens. */
export function LevelBadge({ level }: { level: number }) {
  const { texts } = useModalTexts()
  const shape = level < 100 ? undefined : (SHAPES[Math.floor(level / 100) - 1] ?? SHAPES.at(-1))
  const tens = `tens-${Math.floor((level % 100) / 10)}`
  return (
    <span className={`level ${levelClass(level)} ${tens}${shape === undefined ? ' level-round' : ''}`}>
      {shape !== undefined && (
        <svg viewBox="0 0 36 36" aria-hidden="true">
          <path d={shape} />
        </svg>
      )}
      <span className="visually-hidden">{texts.botLevel(level)}</span>
      <span className={level < 1000 ? undefined : 'level-long'} aria-hidden="true">
        {level}
      </span>
    </span>
  )
}
