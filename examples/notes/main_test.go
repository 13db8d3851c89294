package main

func Example() {
	main()
	// Output:
	// Session 1
	// > Hi! Our staging database is called marigold.
	//   Noted.
	// > And remember: I prefer short answers.
	//   Noted.
	// Session 2
	// > Reports are due on Friday mornings, by the way.
	//   Noted.
	// > What is the staging database called?
	//   You told me: Hi! Our staging database is called marigold.
	// Session 3
	// > When are the reports due?
	//   You told me: Reports are due on Friday mornings, by the way.
	// > Which kind of answers do I prefer?
	//   You told me: I prefer short answers.
	// > Forget everything about marigold.
	//   Notes forgotten: 1.
}
