package analysis

import "strings"

// baseForms maps forms of English words that no rule about endings leads back to the word: what was bought is found by who
// asks what somebody did buy.
var baseForms = func() map[string]string {
	forms := make(map[string]string)
	for line := range strings.Lines(irregularWords) {
		words := strings.Fields(line)
		for i, word := range words {
			if i > 0 {
				forms[word] = words[0]
			}
		}
	}
	return forms
}()

// irregularWords has a word and its other forms on each line. Forms that are common words of their own (left, felt, found,
// saw, bore, lay, wound) are there where the verb is what is usually meant.
const irregularWords = `
arise arose arisen
awake awoke awoken
beat beaten
become became
begin began begun
bend bent
bite bit bitten
bleed bled
blow blew blown
break broke broken
breed bred
bring brought
build built
burn burnt
buy bought
catch caught
choose chose chosen
come came
cling clung
creep crept
deal dealt
dig dug
draw drew drawn
dream dreamt
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feed fed
feel felt
fight fought
find found
flee fled
fly flew flown flies
forget forgot forgotten
forgive forgave forgiven
freeze froze frozen
give gave given
go went gone goes
grow grew grown
hang hung
hear heard
hide hid hidden
hold held
keep kept
kneel knelt
know knew known
lead led
learn learnt
leave left
lend lent
light lit
lose lost
make made
mean meant
meet met
pay paid
ride rode ridden
ring rang rung
rise rose risen
run ran
say said
see saw seen
sell sold
send sent
sew sewn
shake shook shaken
shine shone
shoot shot
show shown
shrink shrank shrunk
sing sang sung
sink sank sunk
sit sat
sleep slept
slide slid
speak spoke spoken
spend spent
spin spun
stand stood
steal stole stolen
stick stuck
sting stung
strike struck
swear swore sworn
sweep swept
swim swam swum
swing swung
take took taken
teach taught
tear tore torn
tell told
think thought
throw threw thrown
understand understood
wake woke woken
wear wore worn
weave wove woven
win won
wind wound
write wrote written
child children
foot feet
goose geese
knife knives
leaf leaves
life lives
loaf loaves
man men
mouse mice
ox oxen
person people
shelf shelves
thief thieves
tooth teeth
wife wives
wolf wolves
woman women
`
