import { useRef } from 'react'
import { nameWithPhase } from '../../contract/item-name.ts'
import type { Item } from '../../contract/widget-api.ts'
import { useFocusKept } from '../ui/focus-kept.ts'
import { Picture } from '../ui/picture.tsx'
import { capitalised } from './hyphenated.ts'
import { useStandTexts } from './texts.ts'

type Props = {
  items: readonly Item[]
  onRemove(id: string): void
  /** True if the picks are those of an offer, so none can be put back. */
  isSettled: boolean
}

/** The picks as pictures. A press puts one back. */
export function Tiles({ items, onRemove, isSettled }: Props) {
  const { texts } = useStandTexts()
  const list = useRef<HTMLUListElement>(null)
  const noteRemoval = useFocusKept(list, items)
  return (
    <ul ref={list} className="summary-items" aria-label={texts.selected}>
      {items.map(({ id, name, phase, rarity, rarityName, iconUrl }, index) => {
        const fullName = nameWithPhase(name, phase ? texts.phases[phase] : null)
        return (
          <li key={id}>
            <button
              type="button"
              className={`summary-item ${rarity}`}
              title={[fullName, capitalised(rarityName ?? '')].filter(Boolean).join(', ')}
              aria-label={texts.removeItem(fullName)}
              disabled={isSettled}
              onClick={() => {
                noteRemoval(index)
                onRemove(id)
              }}
            >
              <Picture url={iconUrl} size={65} />
            </button>
          </li>
        )
      })}
    </ul>
  )
}
