import type { Flow } from '../flow/runner.ts'
import type { Stand } from '../flow/state.ts'
import { useStandTexts } from './texts.ts'

type Props = {
  stand: Stand
  flow: Flow
  className: string
  /** True if the picks are those of an offer. */
  isSettled: boolean
}

/** Clears the picks. Until anything else is picked or the game changes, the same button brings them back. */
export function Clear({ stand, flow, className, isSettled }: Props) {
  const { texts } = useStandTexts()
  const { cleared, selection } = stand
  if (cleared.length > 0)
    return (
      <button
        type="button"
        className={className}
        aria-label={texts.clearUndoAll(cleared.length)}
        disabled={isSettled}
        onClick={() => flow.dispatch({ kind: 'clearUndone' })}
      >
        {texts.clearUndo}
      </button>
    )
  return (
    <button
      type="button"
      className={className}
      aria-label={texts.clearAll}
      disabled={selection.length === 0 || isSettled}
      onClick={() => flow.dispatch({ kind: 'selectionCleared' })}
    >
      {texts.clear}
    </button>
  )
}
