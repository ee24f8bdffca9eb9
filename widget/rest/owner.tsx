import './owner.css'
import type { OwnerProps } from '../link/link-field.tsx'
import { useRestTexts } from '../parts/texts.ts'
import { Avatar } from '../ui/avatar.tsx'
import { TickIcon } from '../ui/icons.tsx'

/** The account of the link, and a button that shows or hides the field with the link. */
export function Owner({ user, isValid, fold }: OwnerProps) {
  const { texts } = useRestTexts()
  return (
    <div className="link-user">
      <Avatar url={user.avatarUrl} size={46} />
      <div>
        <a className="link-name" href={user.profileUrl} target="_blank" rel="noopener noreferrer">
          {user.name}
        </a>
        {isValid && (
          <span className="link-valid">
            <TickIcon /> {texts.tradeLinkValid}
          </span>
        )}
      </div>
      {fold !== null && (
        <button
          ref={fold.button}
          type="button"
          className="link link-change"
          aria-expanded={!fold.isFolded}
          aria-label={texts.tradeLinkChange}
          onClick={fold.toggle}
        >
          {texts.change}
        </button>
      )}
    </div>
  )
}
